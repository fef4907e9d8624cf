import FerrySpool
import FerryUpload

/// Where the page is served, and to whom.
struct DashboardOptions: Sendable {
    let address: ListenAddress
    /// A file with the token that readers must show; `nil`: any program of this machine may read.
    let tokenFile: String?

    /// Reads the token for the first time.
    ///
    /// - Throws: ``HeaderError``.
    func token() throws -> FollowedFiles<String>? {
        try tokenFile.map { path in try FollowedFiles([path], waitsUntilQuiet: true) { try SecretFile.token(path) } }
    }
}
