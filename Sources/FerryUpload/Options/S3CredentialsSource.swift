import FerrySpool
import Glibc

/// Where an object store's credentials come from: a file that was named, the environment, or the profile file of AWS's tools. Files are read again
/// when they change, or when the store lets nothing in.
struct S3CredentialsSource: Sendable {
    private enum Source {
        case fixed(S3Credentials)
        case file(FollowedFiles<S3Credentials>)
    }

    private let source: Source

    /// - Throws: ``DestinationURLError`` where there are none, or those that there are cannot be used.
    init(file: String?, environment: [String: String]) throws(DestinationURLError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let profile = variable("AWS_PROFILE") ?? "default"
        let path =
            file ?? variable("AWS_SHARED_CREDENTIALS_FILE") ?? variable("HOME").map { "\($0)/.aws/credentials" }
        if file == nil, let credentials = S3Credentials(environment: environment) {
            guard credentials.areVisible else {
                throw DestinationURLError(
                    description:
                        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN has other than visible ASCII characters")
            }
            source = .fixed(credentials)
            return
        }
        guard let path, file != nil || access(path, F_OK) == 0 else {
            throw DestinationURLError(
                description:
                    "an s3:// destination needs credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials, or --credentials-file (credentials-file:)"
            )
        }
        do {
            source = .file(
                try FollowedFiles([path]) {
                    let bytes = try GivenFile.bytes(path, limit: .kibibytes(64))
                    return try S3Credentials(profile: profile, in: String(decoding: bytes, as: UTF8.self), of: path)
                })
        } catch let error as DestinationURLError {
            throw error
        } catch {
            throw DestinationURLError(description: "the credentials cannot be read: \(error)")
        }
    }

    /// As they were read last.
    var value: S3Credentials {
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
