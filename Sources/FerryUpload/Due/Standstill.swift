package import FerrySpool

/// Why nothing leaves a spool now, as far as its folder tells: for commands that look at it from outside.
package struct Standstill: Codable, Equatable, Sendable {
    /// As ``SendBlocker/kind``.
    package let reason: String
    /// For people.
    package let text: String
    /// When it ends by itself, where that is known.
    package let until: Timestamp?

    /// - Parameters:
    ///   - uploader: The mark of the uploader that runs; `nil`: none does.
    ///   - destinations: Those that are not well, by ``DestinationID``. Without an uploader's mark the one counts that was tried last.
    ///   - lane: The destination whose lane the spool is; `nil`: it is a spool by itself.
    ///   - longestWait: No wait that was meant is longer.
    /// - Returns: `nil` when nothing stands in the way.
    package init?(
        control: SpoolControl, uploader: UploaderMark?, destinations: [(id: String, state: RetryState)],
        lane: LaneName? = nil, longestWait: Duration = BackOff.standard.longestWait, at now: Timestamp
    ) {
        let option = lane.map { " --destination \($0)" } ?? ""
        if control.isDisabled {
            self.init(SendBlocker.disabled.kind, "the spool is disabled; ferry enable\(option) changes that")
        } else if control.isPaused {
            self.init(SendBlocker.paused.kind, "the spool is paused; ferry resume\(option) changes that")
        } else if let blocked = uploader?.blocked {
            self.init(
                blocked.reason.printable(limit: 100), "ferry run sends nothing: \(blocked.text.printable(limit: 1000))",
                until: blocked.until)
        } else {
            guard let state = Self.failure(of: destinations, for: uploader),
                let end = state.wait(at: now, longestWait: longestWait)
            else { return nil }
            self.init(
                SendBlocker.destinationWaits(until: end, "").kind,
                "the destination is not tried before \(end.rfc3339): \(state.lastError.message.printable(limit: 1000))",
                until: end)
        }
    }

    /// Returns the state of the destination that counts: the uploader's, and without one that which was tried last.
    package static func failure(
        of destinations: [(id: String, state: RetryState)], for uploader: UploaderMark?
    ) -> RetryState? {
        let meant = uploader.map { DestinationID.id(of: $0.destination) }
        let known = destinations.filter { meant == nil || $0.id == meant }
        return known.map(\.state).max { $0.lastAttemptAt < $1.lastAttemptAt }
    }

    private init(_ reason: String, _ text: String, until: Timestamp? = nil) {
        self.reason = reason
        self.text = text
        self.until = until
    }
}

extension Spool {
    /// Returns why nothing leaves it now; `nil` when nothing stands in the way, or when that cannot be read.
    package func standstill(at now: Timestamp) -> Standstill? {
        var uploader: UploaderMark?
        if let known = (try? uploaderMark.read()) ?? nil, known.isRunning { uploader = known.mark }
        return Standstill(
            control: (try? control.read()) ?? SpoolControl(), uploader: uploader, destinations: failingDestinations { _ in },
            lane: laneName, at: now)
    }

    /// Returns the destinations that are not well, by their IDs: those that were tried since something was delivered last. An older failure is that
    /// of a URL which is not used any more, mistyped say.
    ///
    /// - Parameter note: Called with what cannot be read; it counts as well.
    package func failingDestinations(note: (FileError) -> Void) -> [(id: String, state: RetryState)] {
        let states = destinations.states(note: note)
        guard !states.isEmpty, let delivered = (try? ledger.lastDelivery()) ?? nil else { return states }
        return states.filter { $0.state.lastAttemptAt >= delivered.at || $0.state.destination == delivered.destination }
    }
}
