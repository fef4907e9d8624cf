import FerrySpool
import NIOCore
import NIOPosix

/// The body of a runner: deals with what happens, and brings the delivery in line.
struct RunLoop {
    let runner: Runner
    let addCommitter: (LedgerCommitter) -> Void
    let watch: FolderWatch
    private let lookAtNetwork: @Sendable (@escaping @Sendable (NetworkLook?) -> Void) -> Void
    var state: RunState
    var spools: [RunningSpool] = []
    /// The IDs of those that were ever open.
    var knownSpools: Set<String> = []
    /// The spool of each queue.
    var owners: [Int: Int] = [:]
    /// Collections that cannot be listed, and why.
    var lostPlaces: [String: FileError] = [:]
    /// What closed spools still need, until the last request of theirs is over.
    var retiring: [SpoolServices] = []
    private var timer: Scheduled<Void>?
    private var nextPoll = Duration.zero
    var nextCheck = Duration.zero
    private var nextHousekeeping = Duration.zero
    /// The earliest time to read the routes again: netlink events arrive in bursts.
    private var networkLook: Duration?
    private var isLooking = false
    /// Something happened since the look began, maybe too late for it.
    private var looksAgain = false
    /// Nothing is sent before the network was looked at.
    private var knowsNetwork = false
    private var isStopping = false
    /// Trackers are to publish what they hold.
    private var asksTrackers = false
    /// Which secrets were in use at the last look.
    private var secretsVersion = 0

    init(
        _ runner: Runner, usesInotify: Bool, network: NetworkWatch.Maker, addCommitter: @escaping (LedgerCommitter) -> Void
    ) {
        self.runner = runner
        self.addCommitter = addCommitter
        let signals = runner.signals
        watch = FolderWatch(usesKernel: usesInotify) { signals.add(.folder($0, $1)) }
        lookAtNetwork = network { signals.add(.networkChanged) }
        state = RunState(runner.options)
        secretsVersion = runner.workers.template.secretsVersion
    }

    /// Spools are looked at this often for whether they are still there, or back, and collections for new ones.
    static let checkInterval = Duration.seconds(2)
    /// Limits and left-over files are looked after this often.
    private static let housekeepingInterval = Duration.seconds(60)
    /// Earliest time to read the routes again after a change: netlink events arrive in bursts.
    private static let networkDelay = Duration.milliseconds(100)
    /// A name that could not be looked up is asked for again.
    private static let nameInterval = Duration.seconds(30)
    /// Timers of the event loop stand still while the machine sleeps: a longer wait would end late.
    private static let longestSleep = Duration.seconds(60)
    /// The outcomes of answered requests are recorded within milliseconds.
    private static let booksLook = Duration.milliseconds(5)

    var dispatcher: Dispatcher { runner.workers.dispatcher }

    mutating func run() async {
        startLook()
        await checkSpools()
        await reconcile()
        await runner.signals.forEach { signals in
            for signal in signals { handle(signal) }
            if isStopping { return false }
            await lookAround()
            await reconcile()
            return true
        }
        timer?.cancel()
    }

    private mutating func handle(_ signal: Runner.Signal) {
        switch signal {
        case .folder(let queue, let event): if let number = owners[queue] { handle(event, of: number, queue: queue) }
        case .networkChanged: networkLook = networkLook ?? runner.moment().steady + Self.networkDelay
        case .network(let look): noteNetwork(look)
        case .ask:
            let now = runner.moment()
            dispatcher.changeWithChance { state.ask(&$0, at: now, using: &$2) }
            asksTrackers = true
        case .interval(let interval):
            dispatcher.change { _ in state.setInterval(interval) }
            let now = runner.moment().wall
            for number in spools.indices where spools[number].isOpen {
                _ = spools[number].leaveMark(runner.options, state.policy, at: now)
            }
        case .stop: isStopping = true
        case .idle, .tick, .turn: break
        }
    }

    private mutating func handle(_ event: FolderEvent, of number: Int, queue: Int) {
        guard spools[number].isOpen else { return }
        let now = runner.moment()
        switch event {
        case .appeared(let name): noteSegment(name, number, queue)
        case .created(let name):
            // A second name for a finished file (ln) is never closed by a writer.
            if let spool = try? spools[number].services?.lease.spool(), spool.isFinished(name) {
                noteSegment(name, number, queue)
            } else if let found = find(name, number) {
                dispatcher.change { $0.queues[queue].created(found, at: now.wall) }
            }
        case .control: readControl(number)
        case .journalClosed: spools[number].recoversAt = now.steady + RunningSpool.recoveryDelay
        case .rescanNeeded: spools[number].needsScan = true
        case .gone:
            spools[number].isDoubtful = true
            nextCheck = now.steady
        }
    }

    private mutating func noteSegment(_ name: String, _ number: Int, _ queue: Int) {
        let now = runner.moment()
        // One that travels has got another name.
        let travelling = spools[number].travelling
        if !travelling.isEmpty, let spool = try? spools[number].services?.lease.spool(),
            spool.exports.entry(of: name, in: travelling) != nil
        {
            return
        }
        if let found = find(name, number) { dispatcher.change { state.appeared(found, in: queue, &$0, at: now) } }
    }

    /// Returns a segment of a name. Where it could not be looked at, only a look at the whole folder shows it.
    private mutating func find(_ name: String, _ number: Int) -> FoundSegment? {
        do throws(FileError) {
            return try spools[number].services?.find(name, countsEvents: state.policy.countsEvents)
        } catch {
            spools[number].needsScan = true
            return nil
        }
    }

    mutating func readControl(_ number: Int) {
        guard let queue = spools[number].queue, let spool = try? spools[number].services?.lease.spool(),
            let control = try? spool.control.read()
        else { return }
        // What cannot be read now has not changed, as far as is known.
        let path = spools[number].path
        let limits = try? spool.settings.limits(or: runner.options.upload.retention) { [runner] in
            runner.onEvent(.upload(spool: path, .warning("\($0)")))
        }
        if let limits, limits != spools[number].retention {
            nextHousekeeping = .zero
            spools[number].retention = limits
        }
        let now = runner.moment()
        dispatcher.changeWithChance { delivery, _, generator in
            if state.setControl(control, of: queue, at: now) { delivery.forgetWaits(at: now, using: &generator) }
        }
    }

    private mutating func startLook() {
        networkLook = nil
        guard !isLooking else {
            looksAgain = true
            return
        }
        isLooking = true
        lookAtNetwork { [signals = runner.signals] in signals.add(.network($0)) }
    }

    private mutating func noteNetwork(_ look: NetworkLook?) {
        isLooking = false
        let isFirst = !knowsNetwork
        knowsNetwork = true
        if looksAgain { networkLook = runner.moment().steady }
        looksAgain = false
        if let look, look.isProvisional { networkLook = networkLook ?? runner.moment().steady + Self.nameInterval }
        // Where the kernel does not tell (some containers), sending is tried; what was known before holds.
        guard let verdict = look?.verdict, verdict != state.network else { return }
        if !isFirst {
            // What is under way on the old network will never be answered, which is no segment's fault.
            runner.workers.network.advance()
            runner.workers.connector.closeAll()
        }
        let now = runner.moment()
        dispatcher.changeWithChance { _ = state.setNetwork(verdict, isFirst: isFirst, &$0, at: now, using: &$2) }
        runner.onEvent(.network(verdict))
    }

    /// Reads files with secrets again: while nothing is sent, no request looks whether a token was mended.
    private mutating func followSecrets() {
        let template = runner.workers.template
        if let problem = template.followSecrets() {
            for spool in spools { runner.onEvent(.upload(spool: spool.path, .warning(problem))) }
        }
        guard template.secretsVersion != secretsVersion else { return }
        secretsVersion = template.secretsVersion
        let now = runner.moment()
        dispatcher.changeWithChance { state.secretsChanged(&$0, at: now, using: &$2) }
    }

    /// Does what is to be done now and then.
    private mutating func lookAround() async {
        let now = runner.moment().steady
        if let look = networkLook, look <= now { startLook() }
        if asksTrackers { await askTrackers() }
        if let interval = watch.pollInterval, now >= nextPoll {
            nextPoll = now + interval
            await poll()
        }
        if now >= nextCheck {
            await checkSpools()
            followSecrets()
        }
        for number in spools.indices where spools[number].isOpen {
            if let at = spools[number].recoversAt, at <= now { await recover(number) }
            if spools[number].needsScan, spools[number].nextScan <= now { await scan(number) }
        }
        if now >= nextHousekeeping {
            nextHousekeeping = now + Self.housekeepingInterval
            for number in spools.indices where spools[number].isOpen { await keepHouse(number) }
        }
    }

    /// Asks in each spool for everything to be sent, as `ferry flush` does: what trackers hold in journals is theirs to publish.
    private mutating func askTrackers() async {
        asksTrackers = false
        let now = runner.moment()
        for spool in spools where spool.isOpen {
            guard let lease = spool.services?.lease, let queue = spool.queue else { continue }
            let isNoted = await blocking {
                (try? lease.spool().control.change(at: now.wall) { $0.flushRequestedAt = now.wall }) != nil
            }
            if isNoted { state.askedItself(spool: queue, at: now) }
        }
    }

    /// Looks at the folders whose changes the kernel does not report.
    private func poll() async {
        let folders = watch.polledFolders
        for (folder, look) in zip(folders, await runner.looks.look(at: folders.map(\.path))) {
            for event in watch.events(of: folder.number, look) { runner.signals.add(.folder(folder.number, event)) }
        }
    }

    /// Brings the delivery in line with what is known, reports what changed, and sets the timer.
    private mutating func reconcile() async {
        let now = runner.moment()
        state.isQuiet = runner.turns.isWanted
        let (next, whole) = knowsNetwork ? update(at: now) : (nil, nil)
        for number in spools.indices {
            let blocker = blocker(of: number) ?? whole ?? headBlocker(of: number)
            let before = spools[number].blocker
            spools[number].blocker = blocker
            if blocker?.kind == before?.kind {
                // A hold of the spool's own says when it is tried again; of a destination the state of that does.
                if isHeld(number), blocker != before { _ = spools[number].leaveMark(runner.options, state.policy, at: now.wall) }
                continue
            }
            runner.onEvent(.blocked(spool: spools[number].path, blocker))
            // For `ferry status`: the folder does not tell.
            if blocker?.mark != before?.mark { _ = spools[number].leaveMark(runner.options, state.policy, at: now.wall) }
        }
        runner.note(
            .init(
                spools: spools.map { .init(path: $0.path, queue: $0.isOpen ? $0.queue : nil, blocker: $0.blocker) }
                    + lostPlaces.sorted { $0.key < $1.key }.map { place, error in
                        Runner.Latest.Spool(path: place, queue: nil, blocker: .unavailable(error.description))
                    },
                lookedAt: .now))
        var wake = min(next ?? now.steady + Self.longestSleep, now.steady + Self.longestSleep, nextCheck, nextHousekeeping)
        if watch.pollInterval != nil { wake = min(wake, nextPoll) }
        if let networkLook { wake = min(wake, networkLook) }
        for spool in spools where spool.isOpen {
            if let at = spool.recoversAt { wake = min(wake, at) }
            if spool.needsScan { wake = min(wake, spool.nextScan) }
        }
        if let rest = restSpools() { wake = min(wake, now.steady + rest) }
        // The end of a request is a signal; that its endings are all recorded is polled.
        if state.isQuiet, !giveTurn(), !dispatcher.read(\.isBusy) { wake = now.steady + Self.booksLook }
        setTimer(wake - now.steady)
    }

    /// Brings the delivery in line with everything that is known.
    ///
    /// - Returns: When to look again, and why nothing at all is sent.
    private mutating func update(at now: Moment) -> (next: Duration?, blocker: SendBlocker?) {
        var woken = dispatcher.change { state.wake(&$0, at: now) }
        if state.policy.countsEvents {
            for (index, (queue, newcomer)) in woken.enumerated() {
                woken[index].newcomer.found.events = dispatcher.spool(ofQueue: queue).notedEvents(of: newcomer.name)
            }
        }
        if !woken.isEmpty {
            dispatcher.change { delivery in
                for (queue, newcomer) in woken { state.place(newcomer, in: queue, &delivery, at: now) }
            }
        }
        let gone = dispatcher.read { state.toLookFor($0, at: now) }.map { queue, names in
            let services = dispatcher.spool(ofQueue: queue)
            return (queue, Set(names.lazy.filter { !services.contains($0) }.map { FileName($0) }))
        }
        return dispatcher.changeWithChance { delivery, _, generator in
            for (queue, names) in gone where !names.isEmpty { delivery.queues[queue].forgetHeld(names) }
            return (state.update(&delivery, at: now, using: &generator), state.blocker(delivery, at: now))
        }
    }

    /// Lets the program send, once nothing is under way and all that was answered is written down.
    private func giveTurn() -> Bool {
        let isBusy = dispatcher.read { !$0.jobsUnderWay.isEmpty }
        guard !isBusy, spools.allSatisfy({ $0.services?.committer.isIdle ?? true }) else { return false }
        runner.turns.runnerIsQuiet()
        return true
    }

    private func blocker(of number: Int) -> SendBlocker? {
        guard spools[number].isOpen, let queue = spools[number].queue else {
            return .unavailable(spools[number].failure?.description ?? "it is not there")
        }
        let control = state.spools[queue].control
        if control.isDisabled { return .disabled }
        if control.isPaused { return .paused }
        return dispatcher.read { $0.queues[queue].hold }.map { .misconfigured(until: $0.until, $0.why) }
    }

    private func isHeld(_ number: Int) -> Bool {
        spools[number].queue.map { queue in dispatcher.read { $0.queues[queue].hold != nil } } ?? false
    }

    /// Returns why nothing leaves a spool though its destination works, or may work.
    private func headBlocker(of number: Int) -> SendBlocker? {
        guard let queue = spools[number].queue else { return nil }
        return dispatcher.read { $0.headWaits(queue: queue) }.map { .headWaits(until: $0) }
    }

    private mutating func setTimer(_ wait: Duration) {
        timer?.cancel()
        let signals = runner.signals
        timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(max(wait, .milliseconds(1)))) {
            signals.add(.tick)
        }
    }
}
