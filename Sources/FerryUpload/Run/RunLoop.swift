import FerrySpool
import NIOCore
import NIOPosix

/// The body of a runner: deals with what happens, and brings the delivery in line.
struct RunLoop {
    let runner: Runner
    let addSettler: (Settler) -> Void
    let watch: FolderWatch
    private let network: NetworkWatch
    var state: RunState
    var spools: [RunningSpool] = []
    private var timer: Scheduled<Void>?
    private var nextPoll = Duration.zero
    var nextCheck = Duration.zero
    private var nextHousekeeping = Duration.zero
    /// When to look at the network: its news come in bursts.
    private var networkLook: Duration?
    var blockers: [Blocker?] = []
    /// Folders that could not be opened so far: told once.
    var unusable: Set<String> = []
    private var isStopping = false
    /// Which secrets were in use at the last look.
    private var secretsVersion = 0

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
        secretsVersion = runner.workers.template.secretsVersion
    }

    /// Spools are looked at this often for whether they are still there, and collections for new ones.
    static let checkInterval = Duration.seconds(5)
    /// Limits and left-over files are looked after this often.
    private static let housekeepingInterval = Duration.seconds(60)
    private static let networkSettling = Duration.milliseconds(100)
    /// Timers of the event loop stand still while the machine sleeps: a longer wait would end late.
    private static let longestSleep = Duration.seconds(60)

    var dispatcher: Dispatcher { runner.workers.dispatcher }

    mutating func run() async {
        await setVerdict(blocking { [network] in network.verdict() })
        await checkSpools()
        await settle()
        await runner.signals.forEach { signals in
            for signal in signals { handle(signal) }
            if isStopping { return false }
            await lookAround()
            await settle()
            return true
        }
        timer?.cancel()
    }

    private mutating func handle(_ signal: Runner.Signal) {
        switch signal {
        case .news(let number, let news): handle(news, of: number)
        case .networkNews: networkLook = networkLook ?? runner.moment().steady + Self.networkSettling
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

    mutating func readControl(_ spool: Spool, _ number: Int) {
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

    /// While nothing is sent, nobody else looks whether a token was mended.
    private mutating func followSecrets() {
        let template = runner.workers.template
        if let problem = template.followSecrets() {
            for spool in spools { runner.onEvent(.upload(spool: spool.path, .warning(problem))) }
        }
        guard template.secretsVersion != secretsVersion else { return }
        secretsVersion = template.secretsVersion
        dispatcher.change { state.secretsChanged(&$0) }
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
        for spool in spools where spool.isOpen {
            if let at = spool.recoversAt { wake = min(wake, at) }
            if spool.needsScan { wake = min(wake, spool.nextScan) }
        }
        setTimer(wake - now.steady)
    }

    private func blocker(of number: Int) -> Blocker? {
        if !spools[number].isOpen { return .unavailable(spools[number].failure?.description ?? "it is not there") }
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
