import Dispatch
import FerrySpool
import Glibc

/// Which folders a runner looks after, and whether they are there.
extension RunLoop {
    /// Opens what is new or back, and closes what is gone.
    mutating func checkSpools() async {
        nextCheck = runner.moment().steady + Self.checkInterval
        await listPlaces()
        let looks = await runner.looks.look(at: spools.map(\.path))
        for number in spools.indices {
            let now = runner.moment().steady
            if let failure = failure(of: number) { close(number, failure) }
            var step = spools[number].look(looks[number], at: now)
            if case .close(let error) = step {
                close(number, error)
                // Another folder may lie there already.
                step = (try? looks[number].get()) == nil ? .nothing : .open
            }
            switch step {
            case .open: await open(number)
            case .scan: spools[number].needsScan = true
            case .nothing, .close: break
            }
        }
        retire()
    }

    /// Adds the folders that are new in the places, and forgets those that have been missing in theirs for long.
    private mutating func listPlaces() async {
        let places = runner.places
        let listings = await blocking {
            places.map { place -> Result<SpoolPattern.Listing, FileError> in
                do throws(FileError) { return .success(try place.listing()) } catch { return .failure(error) }
            }
        }
        let now = runner.moment().steady
        var known = Set(spools.map { FileName($0.path) })
        var forgotten: Set<FileName> = []
        for (index, (place, listing)) in zip(places, listings).enumerated() {
            switch listing {
            case .failure(let error):
                if lostPlaces.updateValue(error, forKey: "\(place)") == nil {
                    runner.onEvent(.blocked(spool: "\(place)", .unavailable(error.description)))
                }
            case .success(let listing):
                if lostPlaces.removeValue(forKey: "\(place)") != nil {
                    runner.onEvent(.blocked(spool: "\(place)", nil))
                }
                for path in listing.folders where known.insert(path).inserted { spools.append(RunningSpool(path, place: index)) }
                guard let collection = listing.collection else { continue }
                let there = Set(listing.folders.map(FileName.init))
                for number in spools.indices where spools[number].place == index {
                    if there.contains(spools[number].path) {
                        spools[number].absence.seen(in: collection)
                    } else if spools[number].absence.missed(in: collection, at: now, runner.absencePatience) {
                        forgotten.insert(spools[number].path)
                    }
                }
            }
        }
        if !forgotten.isEmpty { forget(forgotten) }
    }

    /// Drops everything that is remembered of folders.
    private mutating func forget(_ paths: Set<FileName>) {
        for number in spools.indices where paths.contains(spools[number].path) {
            if spools[number].isOpen { close(number, FileError("find the spool in", spools[number].path, code: ENOENT)) }
            runner.counters.forget(spools[number].path)
        }
        spools.removeAll { paths.contains($0.path) }
        owners = [:]
        for (number, spool) in spools.enumerated() { if let queue = spool.queue { owners[queue] = number } }
    }

    /// Returns a queue that is no spool's and of which no request is under way; `nil` when all are needed.
    func freeQueue() -> Int? {
        let busy = dispatcher.read { Set($0.jobsUnderWay.map(\.queue)) }
        return state.spools.indices.first { owners[$0] == nil && !busy.contains($0) }
    }

    private func failure(of number: Int) -> FileError? {
        guard spools[number].isOpen, let queue = spools[number].queue else { return nil }
        return dispatcher.read { $0.queues[queue].failure } ?? dispatcher.spool(ofQueue: queue).committer.failure
    }

    mutating func close(_ number: Int, _ failure: FileError) {
        guard spools[number].isOpen, let queue = spools[number].queue else { return }
        watch.remove(queue)
        dispatcher.change { $0.queues[queue].vacate(failure) }
        if let services = spools[number].services { retiring.append(services) }
        spools[number].close(failure, at: runner.moment().steady)
    }

    /// Lets go of what closed spools needed for requests that were under way.
    mutating func retire() {
        guard !retiring.isEmpty else { return }
        let needed = Set(dispatcher.busySpools.map { ObjectIdentifier($0.lease) })
        for services in retiring where !needed.contains(ObjectIdentifier(services.lease)) && services.committer.isIdle {
            services.committer.close()
            // It asks the file system which folder it is.
            DispatchQueue.global().async {
                services.requests.close()
                services.lease.close()
            }
        }
        retiring.removeAll { !needed.contains(ObjectIdentifier($0.lease)) && $0.committer.isIdle }
    }

    /// Closes folders that have been idle, so that their file systems can be unmounted. Returns when to look again.
    mutating func restSpools() -> Duration? {
        let busy = dispatcher.read { Set($0.jobsUnderWay.map(\.queue)) }
        var next: Duration?
        for number in spools.indices {
            guard let queue = spools[number].queue, let wait = spools[number].rest(isBusy: busy.contains(queue)) else { continue }
            next = min(next ?? wait, wait)
        }
        return next
    }
}
