import ArgumentParser
import FerryUpload
import FoundationEssentials

/// How an object store is reached.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "For s3://, the keys as in ~/.aws/credentials. Without: AWS_ACCESS_KEY_ID, that file, the container's or the EC2 instance's role.",
            valueName: "file"))
    var credentialsFile: String?

    @Option(help: ArgumentHelp("For s3://, certificates to trust instead of the system's (PEM).", valueName: "file"))
    var ca: String?

    var isEmpty: Bool { credentialsFile == nil && ca == nil }

    /// Takes the store that a URL names, and looks for its credentials.
    func store(_ url: String) async throws -> ObjectStore {
        try await Self.store(url, credentialsFile: credentialsFile, ca: ca)
    }

    /// Does the same for a command that has these options for its destination.
    static func store(_ url: String, credentialsFile: String?, ca: String?) async throws -> ObjectStore {
        try NamedFiles.require(["--credentials-file": credentialsFile, "--ca": ca])
        var transport = TransportOptions()
        transport.certificateAuthority = ca
        do {
            let store = try ObjectStore(
                url, environment: ProcessInfo.processInfo.environment, credentialsFile: credentialsFile, transport: transport)
            try await store.findCredentials()
            return store
        } catch let error as DestinationURLError {
            throw CommandError(.badConfiguration, error.description)
        } catch let error as TransportSetupError {
            throw CommandError(.badConfiguration, error.description)
        }
    }
}

extension CommandError {
    /// A store that does not do what was asked.
    init(_ error: ObjectStoreError) {
        let status: ExitStatus =
            switch error.kind {
            case .misconfigured, .denied: .misconfigured
            case .unavailable: .remaining
            case .changed, .withheld, .garbage: .badData
            }
        self.init(status, error.description)
    }
}
