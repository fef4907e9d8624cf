/// What lines of a log are about that are held back, added up.
protocol HeldAmount: Sendable {
    /// Nothing.
    init()
    mutating func add(_ other: Self)
}

/// Lets one line of each kind through at once, adds up what the next ones are about, and tells that when their time is over.
///
/// However many kinds there are, and however often they come, the lines are bounded: kinds above the limit are told together.
struct HeldLines<Kind: Hashable & Sendable, Amount: HeldAmount>: Sendable {
    /// What was held back.
    struct Held: Sendable {
        /// `nil`: of several kinds, each of which has no line of its own.
        let kind: Kind?
        let amount: Amount
    }

    private struct Last {
        var told: ContinuousClock.Instant
        var came: ContinuousClock.Instant
        /// How long the next ones are held back.
        var pause: Duration
        var held: Amount?
    }

    private let pause: Duration
    private let longestPause: Duration
    private let mostKinds: Int
    private var last: [Kind: Last] = [:]
    private var others: (since: ContinuousClock.Instant, held: Amount)?

    /// - Parameters:
    ///   - pause: How long lines of a kind are held back after one of it.
    ///   - longestPause: The pause doubles up to this while the kind comes again; after as long without it, it is new.
    ///   - mostKinds: How many have lines of their own at a time.
    init(_ pause: Duration, upTo longestPause: Duration? = nil, mostKinds: Int = 100) {
        self.pause = pause
        self.longestPause = longestPause ?? pause
        self.mostKinds = mostKinds
    }

    /// Returns what a line is to tell now; `nil`: it is held back.
    mutating func next(_ kind: Kind, _ amount: Amount, at now: ContinuousClock.Instant) -> Amount? {
        if var known = last[kind], now - known.came < longestPause || known.held != nil {
            known.came = now
            var all = known.held ?? Amount()
            all.add(amount)
            let isOver = now - known.told >= known.pause
            known.held = isOver ? nil : all
            if isOver { (known.told, known.pause) = (now, min(known.pause * 2, longestPause)) }
            last[kind] = known
            return isOver ? all : nil
        }
        if last.count >= mostKinds { last = last.filter { $0.value.held != nil || now - $0.value.came < longestPause } }
        if last.count >= mostKinds, last[kind] == nil {
            var all = others?.held ?? Amount()
            all.add(amount)
            others = (others?.since ?? now, all)
            return nil
        }
        last[kind] = Last(told: now, came: now, pause: pause)
        return amount
    }

    /// Returns what was held back for long enough, and begins anew with it.
    ///
    /// - Parameter all: Also what was held back for less.
    mutating func over(all: Bool, at now: ContinuousClock.Instant) -> [Held] {
        var over: [Held] = []
        for (kind, var known) in last {
            guard let held = known.held, all || now - known.told >= known.pause else { continue }
            over.append(Held(kind: kind, amount: held))
            (known.told, known.pause, known.held) = (now, min(known.pause * 2, longestPause), nil)
            last[kind] = known
        }
        if let others, all || now - others.since >= pause {
            over.append(Held(kind: nil, amount: others.held))
            self.others = nil
        }
        return over
    }
}
