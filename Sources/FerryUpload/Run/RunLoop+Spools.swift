import FerrySpool

/// What a runner does with its spools' folders.
extension RunLoop {
    /// Opens what is new or back, and closes what is gone.
    mutating func checkSpools() async {
        nextCheck = runner.moment().steady + Self.checkInterval
        for number in spools.indices where spools[number].isOpen {
            if let failure = failure(of: number) {
                close(number, failure)
            } else if spools[number].exportsChanged() {
                spools[number].needsScan = true
            }
        }
        for place in runner.places {
            for path in (try? place.folders()) ?? [] where !spools.contains(where: { $0.path == path }) {
                await open(path, as: spools.count, id: nil)
            }
        }
        for number in spools.indices where !spools[number].isOpen && spools[number].opensAt <= runner.moment().steady {
            await open(spools[number].path, as: number, id: spools[number].spool.id)
        }
    }

    private func failure(of number: Int) -> FileError? {
        spools[number].missing() ?? dispatcher.read { $0.lanes[number].failure ?? $0.lanes[number].tools.settler.failure }
    }

    private mutating func close(_ number: Int, _ failure: FileError) {
        watch.remove(number)
        dispatcher.change { $0.fail(failure, lane: number) }
        spools[number].close(failure, at: runner.moment().steady)
    }

    /// - Parameter id: Which spool must be there; another folder in its place is left alone.
    private mutating func open(_ path: String, as number: Int, id: String?) async {
        let opening: Result<(Spool, Recovery), FileError> = await blocking {
            do throws(FileError) { return .success(try RunningSpool.open(path, id: id)) } catch { return .failure(error) }
        }
        let now = runner.moment()
        let (spool, recovery): (Spool, Recovery)
        switch opening {
        case .success(let opened): (spool, recovery) = opened
        case .failure(let error) where spools.indices.contains(number): return spools[number].close(error, at: now.steady)
        case .failure(let error):
            if unusable.insert(path).inserted { runner.onEvent(.blocked(spool: path, .unavailable(error.description))) }
            return
        }
        unusable.remove(path)
        let counters = runner.counters
        let onEvent = runner.onEvent
        let tools = LaneTools(spool, options: runner.options.upload, now: runner.now) { event in
            counters.count(event, in: path)
            onEvent(.upload(spool: path, event))
        }
        let control = (try? spool.control()) ?? SpoolControl()
        let known = (try? spool.destinationState(DestinationName.id(of: "\(runner.options.upload.destination)"))) ?? nil
        if number < spools.count {
            dispatcher.change { delivery in
                delivery.lanes[number].tools.settler.close()
                delivery.lanes[number] = Lane(tools)
            }
            spools[number].opened(spool)
            _ = state.setControl(control, of: number)
        } else {
            spools.append(RunningSpool(spool))
            dispatcher.change { delivery in
                var lane = Lane(tools)
                // Until everything is known, nothing leaves.
                lane.gate = .closed
                delivery.lanes.append(lane)
                if let known { delivery.remember(known) }
            }
            state.add(control, at: now)
            blockers.append(nil)
        }
        spools[number].leaveMark(runner.options.upload, at: now.wall)
        addSettler(tools.settler)
        // Before the scan: what appears during it is told twice, and noticed once.
        watch.add(spool, number: number)
        if recovery.hasPublished { onEvent(.recovered(spool: path, recovery)) }
        for problem in recovery.problems { onEvent(.upload(spool: path, .warning("\(problem)"))) }
        if !recovery.problems.isEmpty { spools[number].recoversAt = now.steady + RunningSpool.unfinishedInterval }
        await scan(number)
        onEvent(.opened(spool: path, pending: dispatcher.read { $0.lanes[number].listed }))
    }

    /// Looks at a whole folder.
    mutating func scan(_ number: Int) async {
        let spool = spools[number].spool
        let start = ContinuousClock.now
        let result: Result<(SpoolListing, exported: Set<String>), FileError> = await blocking {
            do throws(FileError) {
                let listing = try spool.scan(sizes: true)
                _ = spool.cleanUp(listing)
                return .success((listing, try spool.exportedSegments()))
            } catch {
                return .failure(error)
            }
        }
        let now = runner.moment()
        spools[number].scanned(at: now.steady, took: ContinuousClock.now - start)
        switch result {
        case .success((let listing, let exported)):
            dispatcher.change { delivery in
                delivery.lanes[number].begin(listing, except: delivery.namesUnderWay(lane: number).union(exported))
                for priority in Set(listing.entries.map(\.priority)) {
                    guard let first = listing.entries.first(where: { $0.priority == priority }) else { continue }
                    // How many of them are new, nobody can tell.
                    state.stored(first, events: runner.options.schedule.events ?? 1, in: number, at: now)
                }
            }
        case .failure(let error): close(number, error)
        }
    }

    /// Publishes what dead writers left.
    mutating func recover(_ number: Int) async {
        spools[number].recoversAt = nil
        let spool = spools[number].spool
        let sentGivesWay = runner.options.upload.sentGivesWay
        let recovery = await blocking { () -> Recovery? in
            guard let recovery = try? spool.recover() else { return nil }
            guard sentGivesWay, recovery.problems.contains(where: \.error.isOutOfSpace) else { return recovery }
            // Delivered segments make room for what was never sent.
            let freed = spool.freeSent(forFinishing: recovery.problems)
            guard freed.segments > 0, let again = try? spool.recover() else { return recovery }
            return recovery.followed(by: again)
        }
        guard let recovery else { return }
        // What a full disk or another user's file holds up may go on later.
        if !recovery.problems.isEmpty { spools[number].recoversAt = runner.moment().steady + RunningSpool.unfinishedInterval }
        guard recovery.hasPublished else { return }
        runner.onEvent(.recovered(spool: spool.path, recovery))
    }

    /// Keeps the limits.
    mutating func keepHouse(_ number: Int) async {
        let spool = spools[number].spool
        let options = runner.options
        let now = runner.now()
        let pending = dispatcher.read { $0.pending(lane: number) }.values
        let bytes = pending.reduce(ByteCount.zero) { $0 + $1.bytes }
        let oldest = pending.compactMap(\.oldest).min() ?? now
        let lateBefore = options.upload.arrival?.standing(at: now).lateBefore
        let retention = options.upload.retention
        // A whole look costs seconds where a million segments wait, so only when there is something to drop.
        let isOver = retention.maxBytes.map { bytes > $0 } ?? false || retention.maxAge.map { now - oldest > $0 } ?? false
        let isLate = lateBefore.map { oldest < $0 } ?? false
        let prunesSent = spools[number].prunesSent(at: runner.moment().steady)
        let onEvent = runner.onEvent
        let result: Result<RetentionReport, FileError> = await blocking {
            do throws(FileError) {
                var report = isOver ? try spool.applyRetention(retention) : RetentionReport()
                if isLate, let arrival = options.upload.arrival { report.expired.add(try spool.dropLate(arrival, now: now)) }
                if prunesSent {
                    for problem in spool.pruneSent(options.sentRetention, now: now).problems.prefix(10) {
                        onEvent(.upload(spool: spool.path, .warning("\(problem)")))
                    }
                }
                return .success(report)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let report):
            guard report.expired.segments > 0 || report.evicted.segments > 0 else { return }
            runner.counters.count(report, in: spool.path)
            runner.onEvent(.retention(spool: spool.path, report))
            spools[number].needsScan = true
        case .failure(let error): close(number, error)
        }
    }
}
