import FerrySpool

/// What a runner does with its spools' content.
extension RunLoop {
    /// Opens a folder as a spool, with its gate as everything that is known says.
    mutating func open(_ number: Int) async {
        let path = spools[number].path
        let (options, wall, seen, tell) = (runner.options, runner.now(), knownSpools, runner.onEvent)
        let opening: Result<RunningSpool.Opening, FileError> = await blocking {
            do throws(FileError) {
                let opening = try RunningSpool.open(path, options, known: seen, at: wall) {
                    tell(.upload(spool: path, .warning("\($0)")))
                }
                if options.upload.keepsSent { try opening.spool.sent.noteGivesWay(options.upload.sentGivesWay) }
                return .success(opening)
            } catch {
                return .failure(error)
            }
        }
        let now = runner.moment()
        let opened: RunningSpool.Opening
        switch opening {
        case .success(let opening): opened = opening
        case .failure(let error): return spools[number].close(error, at: now.steady)
        }
        let spool = opened.spool
        let counters = runner.counters
        let onEvent = runner.onEvent
        let services = SpoolServices(
            SpoolLease(spool), options: runner.options.upload, endingCounter: runner.endingCounter, now: runner.now
        ) {
            event in
            counters.count(event, in: path)
            onEvent(.upload(spool: path, event))
        }
        let control = (try? spool.control.read { onEvent(.upload(spool: path, .warning("\($0)"))) }) ?? .unreadable
        let known = (try? spool.destinations.state(DestinationID.id(of: "\(runner.options.upload.destination)"))) ?? nil
        let isBack = spools[number].id != nil
        let isSame = spools[number].id == spool.id
        let queue = spools[number].queue ?? freeQueue() ?? state.spools.count
        // Until everything is known, nothing leaves.
        dispatcher.join(services, as: queue, gate: .closed) { delivery in
            if queue < state.spools.count {
                state.rejoin(control, as: queue, isSame: isSame)
            } else {
                state.add(control)
            }
            if let known { delivery.remember(known, at: now.wall) }
            // What this process knows better is written where the next process will look.
            if known != delivery.breaker.state { delivery.add(.saveBreaker(queue: queue)) }
        }
        spools[number].opened(opened, services, queue: queue)
        knownSpools.insert(spool.id)
        owners[queue] = number
        addCommitter(services.committer)
        // Before the scan: what appears during it is reported twice, and queued once.
        watch.add(path, isRemote: spool.directory.isRemote, number: queue)
        // A change of its control since it was opened is not reported again.
        readControl(number)
        note(opened.recovery, of: number)
        await scan(number, isFirst: true)
        guard spools[number].isOpen else { return }
        // After the scan, which sends what was stored before: trackers that see the mark count from here on.
        if let other = spools[number].leaveMark(runner.options, state.policy, at: now.wall) {
            onEvent(.shared(spool: path, with: other))
        }
        onEvent(.opened(spool: path, pending: dispatcher.read { $0.queues[queue].listed }, isBack: isBack))
    }

    /// Looks at a whole folder.
    ///
    /// - Parameter isFirst: The spool was just opened.
    mutating func scan(_ number: Int, isFirst: Bool = false) async {
        guard let queue = spools[number].queue, let services = spools[number].services else { return }
        let start = ContinuousClock.now
        let result: Result<(SpoolListing, exported: Set<FileName>, TravellingSegments), FileError> = await blocking {
            do throws(FileError) {
                let spool = try services.lease.spool()
                services.restoreRequests(in: spool)
                let listing = try spool.scan(sizes: true)
                _ = spool.housekeeping.cleanUp(listing)
                let travelling = try services.travel.read(spool, listing)
                return .success((listing, spool.exports.names(in: listing, of: travelling), travelling))
            } catch {
                return .failure(error)
            }
        }
        let now = runner.moment()
        spools[number].scanned(at: now.steady, took: ContinuousClock.now - start)
        switch result {
        case .success((let listing, let exported, let travelling)):
            spools[number].travelling = travelling
            var new = dispatcher.change { delivery in
                let before = isFirst ? nil : delivery.queues[queue].queue
                delivery.queues[queue].begin(listing, except: delivery.namesUnderWay(queue: queue).union(exported))
                return state.scanned(queue, since: before, &delivery, at: now)
            }
            if new.isEmpty { return }
            if state.policy.countsEvents {
                for index in new.indices { new[index].found.events = services.notedEvents(of: new[index].name) }
            }
            dispatcher.change { delivery in
                for newcomer in new { state.place(newcomer, in: queue, &delivery, at: now) }
            }
        case .failure(let error): close(number, error)
        }
    }

    /// Publishes what dead writers left.
    mutating func recover(_ number: Int) async {
        spools[number].recoversAt = nil
        guard let lease = spools[number].services?.lease else { return }
        let sentGivesWay = runner.options.upload.sentGivesWay
        let recovery = await blocking { () -> Recovery? in
            guard let spool = try? lease.spool(), let recovery = try? spool.housekeeping.recover() else { return nil }
            guard sentGivesWay, recovery.problems.contains(where: \.error.isDiskFull) else { return recovery }
            // Delivered segments make room for what was never sent.
            guard spool.sent.free(forFinishing: recovery.problems) != nil, let again = try? spool.housekeeping.recover() else {
                return recovery
            }
            return recovery.followed(by: again)
        }
        if let recovery { note(recovery, of: number) } else { recoverLater(number) }
    }

    private mutating func recoverLater(_ number: Int) {
        spools[number].recoversAt = runner.moment().steady + RunningSpool.unfinishedInterval
    }

    /// Tells what was published, and what could not be finished: that is tried again, since room may have been made meanwhile.
    private mutating func note(_ recovery: Recovery, of number: Int) {
        let path = spools[number].path
        if recovery.hasPublished { runner.onEvent(.recovered(spool: path, recovery)) }
        for problem in recovery.problems where !spools[number].unfinished.contains(problem) {
            runner.onEvent(.upload(spool: path, .warning("\(problem)")))
        }
        spools[number].unfinished = recovery.problems
        if recovery.isUnsure || !recovery.problems.isEmpty { recoverLater(number) }
    }

    /// Keeps the limits.
    mutating func keepHouse(_ number: Int) async {
        guard let queue = spools[number].queue, let lease = spools[number].services?.lease else { return }
        let options = runner.options
        let now = runner.now()
        let pending = dispatcher.read { $0.pending(queue: queue) }.values
        let bytes = pending.reduce(ByteCount.zero) { $0 + $1.bytes }
        let oldest = pending.compactMap(\.oldest).min() ?? now
        let lateBefore = options.upload.due?.standing(at: now).lateBefore
        let retention = spools[number].retention
        // A whole look costs seconds where a million segments wait, so only when there is something to drop.
        let isOver = retention.maxBytes.map { bytes > $0 } ?? false || retention.maxAge.map { now - oldest > $0 } ?? false
        let isLate = options.upload.due?.late == .drop && lateBefore.map { oldest < $0 } ?? false
        let prunesSent = !options.sentRetention.isUnlimited && spools[number].prunesSent(at: runner.moment().steady)
        // What is idle is left alone: its file system may be about to be unmounted.
        guard isOver || isLate || prunesSent else { return }
        let onEvent = runner.onEvent
        let result: Result<RetentionReport, FileError> = await blocking {
            do throws(FileError) {
                let spool = try lease.spool()
                var report = isOver ? try spool.retention.apply(retention) : RetentionReport()
                for problem in report.problems.prefix(10) { onEvent(.upload(spool: spool.path, .warning("\(problem)"))) }
                if isLate, let arrival = options.upload.due {
                    report.expired.add(try spool.retention.dropLate(arrival, now: now))
                }
                if prunesSent {
                    for problem in spool.sent.prune(options.sentRetention, now: now).problems.prefix(10) {
                        onEvent(.upload(spool: spool.path, .warning("\(problem)")))
                    }
                }
                return .success(report)
            } catch {
                return .failure(error)
            }
        }
        let path = spools[number].path
        switch result {
        case .success(let report):
            guard report.expired.segments > 0 || report.evicted.segments > 0 else { return }
            runner.counters.count(report, in: path)
            runner.onEvent(.retention(spool: path, report))
            spools[number].needsScan = true
        // Limits that cannot be kept stop no delivery. A folder that is gone, the next look shows.
        case .failure(let error): runner.onEvent(.upload(spool: path, .warning("the limits cannot be kept: \(error)")))
        }
    }
}
