import FerrySpool

/// A file with secret headers, which is read again when it changes: a token that was mended works without a restart.
public final class HeaderFile: Sendable {
    private let file: FollowedFiles<[UploadOptions.Header]>

    /// - Parameters:
    ///   - read: Reads the headers, from any thread.
    /// - Throws: What `read` throws.
    public init(_ path: String, read: @escaping @Sendable (String) throws -> [UploadOptions.Header]) throws {
        file = try FollowedFiles([path]) { try read(path) }
    }

    /// As they were read last.
    var headers: [UploadOptions.Header] { file.value }

    /// Looks whether the file has changed, once a second at most, and reads it if so.
    func look(at now: ContinuousClock.Instant) -> FileNews { file.look(at: now) }

    /// Reads the file, even if it seems unchanged.
    func readAgain() -> FileNews { file.readAgain() }
}
