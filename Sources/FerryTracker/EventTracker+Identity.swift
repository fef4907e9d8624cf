import FerrySpool

extension EventTracker {
    /// App Center's limit.
    private static let longestUserID = 256

    /// Who is logged in.
    public var userID: String? { isForked ? nil : state.withLock(\.identity.userID) }

    /// Sets the user of events from now on, after the next start as well.
    ///
    /// - Parameter user: 1 to 256 characters.
    /// - Throws: ``TrackerError``. With ``TrackerConfiguration/tracksSignUp`` also why `$SignUp` was not stored; the user is not logged in then.
    public func login(_ user: String) throws(TrackerError) {
        guard !user.isEmpty, user.utf16.count <= Self.longestUserID else {
            throw .userID(length: user.utf16.count, maximum: Self.longestUserID)
        }
        try refuseFork()
        let (before, context) = state.withLock { ($0.identity, $0.context(of: user)) }
        // Nothing else tells the server that the two are one person. Where it cannot be stored, the next login tells it.
        if configuration.tracksSignUp, user != before.userID, user != before.anonymousID {
            try record("$SignUp", properties: [:], context: context)
        }
        try setUser(user)
    }

    /// Clears the user id; the anonymous id stays.
    public func logout() throws(TrackerError) {
        try refuseFork()
        try setUser(nil)
    }

    private func setUser(_ user: String?) throws(TrackerError) {
        // One after the other: the last one in memory is the last one on the disk. What cannot be written has not happened.
        try identityTurn.withLock { (_) throws(TrackerError) in
            var identity = state.withLock(\.identity)
            identity.userID = user
            do throws(FileError) { try recorder.spool.identity.write(identity) } catch { throw .file(error) }
            state.withLock { $0.setUser(user) }
        }
        followContext()
    }

    /// Properties of every event from now on, until the process ends; an event's own and the dynamic ones go first. Adds to those that
    /// are there.
    public func setSuperProperties(_ properties: EventProperties) {
        if isForked { return }
        state.withLock { $0.superProperties = $0.superProperties.merging(properties) }
    }

    /// Removes a super property. Events from now on do not have it.
    public func removeSuperProperty(_ key: String) {
        if isForked { return }
        state.withLock { $0.superProperties[key] = nil }
    }

    /// Removes all super properties.
    public func removeAllSuperProperties() {
        if isForked { return }
        state.withLock { $0.superProperties = [:] }
    }

    /// The properties that every event of this tracker gets; empty in a fork's child.
    public var superProperties: EventProperties { isForked ? [:] : state.withLock(\.superProperties) }

    /// Sets the country of events instead of the locale's: two letters (ISO 3166-1), which are stored in upper case; `nil`: none.
    ///
    /// - Throws: ``TrackerError/country(_:)``; the country stays as it was.
    public func setCountryCode(_ code: String?) throws(TrackerError) {
        if isForked { return }
        let code = try Self.countryCode(code)
        state.withLock { $0.setCountry(code) }
    }

    static func countryCode(_ code: String?) throws(TrackerError) -> String? {
        guard let code else { return nil }
        guard let known = DeviceFacts.countryCode(code) else { throw .country(code) }
        return known
    }
}
