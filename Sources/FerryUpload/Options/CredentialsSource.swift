import FerrySpool

/// Where a destination's credentials come from: what was there at the start, or a file, which is read again when it changes, or when nothing is let in.
struct CredentialsSource<Credentials: Equatable & Sendable>: Sendable {
    private enum Source {
        case fixed(Credentials)
        case file(FollowedFiles<Credentials>)
    }

    private let source: Source

    /// Takes credentials that stay as they are.
    init(_ credentials: Credentials) { source = .fixed(credentials) }

    /// Reads a file for the first time.
    ///
    /// - Parameter read: Returns what a text says, from any thread.
    /// - Throws: ``DestinationURLError`` for a file that cannot be read, or says nothing that can be used.
    init(
        file path: String, _ read: @escaping @Sendable (String) throws(DestinationURLError) -> Credentials
    ) throws(DestinationURLError) {
        do {
            source = .file(
                try FollowedFiles([path]) {
                    let bytes = try GivenFile.bytes(path, limit: .kibibytes(64))
                    return try read(String(decoding: bytes, as: UTF8.self))
                })
        } catch let error as DestinationURLError {
            throw error
        } catch {
            throw DestinationURLError(description: "the credentials cannot be read: \(error)")
        }
    }

    /// As they were read last.
    var value: Credentials {
        switch source {
        case .fixed(let credentials): credentials
        case .file(let file): file.value
        }
    }

    /// Looks whether they have changed; returns what is wrong with those that cannot be used now.
    func follow(at now: ContinuousClock.Instant) -> String? {
        guard case .file(let file) = source, case .unusable(let problem) = file.look(at: now) else { return nil }
        return problem
    }

    /// Reads them again. Returns whether they are others.
    func readAgain() -> Bool {
        guard case .file(let file) = source else { return false }
        return file.readAgain() == .new
    }
}
