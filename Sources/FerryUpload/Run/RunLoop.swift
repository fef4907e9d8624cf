import FerrySpool
import NIOCore
import NIOPosix

/// The body of a runner: deals with what happens, and brings the delivery in line.
struct RunLoop {
    private let runner: Runner
    private let addSettler: (Settler) -> Void
    private let watch: FolderWatch
    private let network: NetworkWatch
    private var state: RunState
    private var spools: [RunningSpool] = []
    private var timer: Scheduled<Void>?
    private var nextPoll = Duration.zero
    private var nextCheck = Duration.zero
    private var nextHousekeeping = Duration.zero
    /// When to look at the network: its news come in bursts.
    private var networkLook: Duration?
    private var blockers: [Blocker?] = []
    private var isStopping = false

    init(_ runner: Runner, addSettler: @escaping (Settler) -> Void) {
        self.runner = runner
        self.addSettler = addSettler
        let signals = runner.signals
        watch = FolderWatch { signals.add(.news($0, $1)) }
        let origin = runner.options.upload.destination.origin
        let target = runner.options.upload.transport.proxies.proxy(for: origin).map {
            Origin.Address.host($0.host, port: $0.port)
        }
        network = NetworkWatch(runner.options.network, target: target ?? origin.address) { signals.add(.networkNews) }
        state = RunState(runner.options)
    }

    /// Spools are looked at this often for whether they are still there, and collections for new ones.
    private static let checkInterval = Duration.seconds(5)
    /// Limits and left-over files are looked after this often.
    private static let housekeepingInterval = Duration.seconds(60)
    private static let networkSettling = Duration.milliseconds(100)
    /// Timers of the event loop stand still while the machine sleeps: a longer wait would end late.
    private static let longestSleep = Duration.seconds(60)

    private var dispatcher: Dispatcher { runner.workers.dispatcher }

    mutating func run() async {
        await setVerdict(blocking { [network] in network.verdict() })
        await checkSpools()
        await settle()
        await runner.signals.forEach { signals in
            for signal in signals { await handle(signal) }
            if isStopping { return false }
            await lookAround()
            await settle()
            return true
        }
        timer?.cancel()
    }

    private mutating func handle(_ signal: Runner.Signal) async {
        switch signal {
        case .news(let number, let news): handle(news, of: number)
        case .networkNews: networkLook = networkLook ?? runner.moment().steady + Self.networkSettling
        case .verdict(let verdict): setVerdict(verdict)
        case .ask:
            let now = runner.moment()
            dispatcher.change { state.ask(&$0, at: now) }
        case .stop: isStopping = true
        case .idle, .tick: break
        }
    }

    private mutating func handle(_ news: FolderNews, of number: Int) {
        guard spools.indices.contains(number), spools[number].isOpen else { return }
        let spool = spools[number].spool
        let now = runner.moment()
        switch news {
        case .appeared(let name):
            var events: Int64 = 1
            if let wanted = runner.options.schedule.events, wanted > 1 { events = (try? spool.notedEvents(of: name)) ?? 1 }
            dispatcher.change { delivery in
                guard !delivery.namesUnderWay(lane: number).contains(name),
                    let entry = delivery.lanes[number].appeared(name)
                else { return }
                state.stored(entry, events: events, in: number, at: now)
            }
        case .created(let name):
            dispatcher.change { $0.lanes[number].created(name, until: now.wall + ForeignFile.quietPeriod) }
        case .control: readControl(spool, number)
        case .journalClosed: spools[number].recoversAt = now.steady + RunningSpool.recoveryDelay
        case .unclear: spools[number].needsScan = true
        }
    }

    private mutating func readControl(_ spool: Spool, _ number: Int) {
        guard let control = try? spool.control() else { return }
        let now = runner.moment()
        dispatcher.change { delivery in
            if state.setControl(control, of: number) { delivery.forgetWaits(at: now.wall) }
        }
    }

    private mutating func setVerdict(_ verdict: NetworkVerdict) {
        guard verdict != state.network else { return }
        // What is under way on the old network will never be answered, and that is nobody's fault.
        runner.workers.network.advance()
        runner.workers.connector.closeAll()
        let now = runner.moment()
        dispatcher.change { _ = state.setNetwork(verdict, &$0, at: now) }
        runner.onEvent(.network(verdict))
    }

    /// Does what is to be done now and then.
    private mutating func lookAround() async {
        let now = runner.moment().steady
        if let look = networkLook, look <= now {
            networkLook = nil
            await setVerdict(blocking { [network] in network.verdict() })
        }
        if let interval = watch.pollInterval, now >= nextPoll {
            nextPoll = now + interval
            watch.poll { [signals = runner.signals] in signals.add(.news($0, $1)) }
        }
        if now >= nextCheck { await checkSpools() }
        for number in spools.indices where spools[number].isOpen {
            if let at = spools[number].recoversAt, at <= now { await recover(number) }
            if spools[number].needsScan, spools[number].nextScan <= now { await scan(number) }
        }
        if now >= nextHousekeeping {
            nextHousekeeping = now + Self.housekeepingInterval
            for number in spools.indices where spools[number].isOpen { await keepHouse(number) }
        }
    }

    /// Opens what is new or back, and closes what is gone.
    private mutating func checkSpools() async {
        nextCheck = runner.moment().steady + Self.checkInterval
        for number in spools.indices where spools[number].isOpen {
            if let failure = failure(of: number) { close(number, failure) }
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
        spools[number].close(at: runner.moment().steady)
    }

    /// - Parameter id: Which spool must be there; another folder in its place is left alone.
    private mutating func open(_ path: String, as number: Int, id: String?) async {
        let opening: Result<(Spool, Recovery), FileError> = await blocking {
            do throws(FileError) { return .success(try RunningSpool.open(path, id: id)) } catch { return .failure(error) }
        }
        let now = runner.moment()
        guard case .success(let (spool, recovery)) = opening else {
            if spools.indices.contains(number) { spools[number].close(at: now.steady) }
            return
        }
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
        if !recovery.sealed.isEmpty || !recovery.arrived.isEmpty { onEvent(.recovered(spool: path, recovery)) }
        await scan(number)
        onEvent(.opened(spool: path, pending: dispatcher.read { $0.lanes[number].listed }))
    }

    /// Looks at a whole folder.
    private mutating func scan(_ number: Int) async {
        let spool = spools[number].spool
        let start = ContinuousClock.now
        let result: Result<SpoolListing, FileError> = await blocking {
            do throws(FileError) {
                let listing = try spool.scan(sizes: true)
                _ = try spool.cleanUp(listing)
                return .success(listing)
            } catch {
                return .failure(error)
            }
        }
        let now = runner.moment()
        spools[number].scanned(at: now.steady, took: ContinuousClock.now - start)
        switch result {
        case .success(let listing):
            dispatcher.change { delivery in
                delivery.lanes[number].begin(listing, except: delivery.namesUnderWay(lane: number))
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
    private mutating func recover(_ number: Int) async {
        spools[number].recoversAt = nil
        let spool = spools[number].spool
        let recovery = await blocking { try? spool.recover() }
        guard let recovery, !recovery.sealed.isEmpty || !recovery.arrived.isEmpty else { return }
        runner.onEvent(.recovered(spool: spool.path, recovery))
    }

    /// Keeps the limits.
    private mutating func keepHouse(_ number: Int) async {
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
        let result: Result<RetentionReport, FileError> = await blocking {
            do throws(FileError) {
                var report = isOver ? try spool.applyRetention(retention) : RetentionReport()
                if isLate, let arrival = options.upload.arrival { report.expired.add(try spool.dropLate(arrival, now: now)) }
                if prunesSent { _ = try spool.pruneSent(options.sentRetention, now: now) }
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

    /// Brings the delivery in line, tells what changed, and sets the timer.
    private mutating func settle() async {
        let now = runner.moment()
        let (next, whole) = dispatcher.change { delivery in
            (state.update(&delivery, at: now), state.blocker(delivery, at: now))
        }
        for number in spools.indices {
            let blocker = blocker(of: number) ?? whole
            if blocker?.kind != blockers[number]?.kind { runner.onEvent(.blocked(spool: spools[number].path, blocker)) }
            blockers[number] = blocker
        }
        runner.note(.init(paths: spools.map(\.path), blockers: blockers, lookedAt: .now))
        var wake = min(next ?? now.steady + Self.longestSleep, now.steady + Self.longestSleep, nextCheck, nextHousekeeping)
        if watch.pollInterval != nil { wake = min(wake, nextPoll) }
        if let networkLook { wake = min(wake, networkLook) }
        for spool in spools {
            if let at = spool.recoversAt { wake = min(wake, at) }
            if spool.needsScan { wake = min(wake, spool.nextScan) }
        }
        setTimer(wake - now.steady)
    }

    private func blocker(of number: Int) -> Blocker? {
        if !spools[number].isOpen { return .unavailable("\(spools[number].path) is not there, or cannot be used") }
        let control = state.spools[number].control
        return control.isDisabled ? .disabled : control.isPaused ? .paused : nil
    }

    private mutating func setTimer(_ wait: Duration) {
        timer?.cancel()
        let signals = runner.signals
        timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(max(wait, .milliseconds(1)))) {
            signals.add(.tick)
        }
    }
}
