import FerrySpool
import Glibc

/// Where the keys for an object store come from: the first place, of those where AWS's own tools look, that has some.
struct S3KeySource: Sendable {
    private enum Place {
        case given(CredentialsSource<S3Credentials>)
        case served(ServedKeys)
    }

    private let place: Place

    /// Takes keys from a file that was named, the environment, the profile file of AWS's tools, or a service, which is not asked yet.
    ///
    /// - Throws: ``DestinationURLError`` where there can be none, or those that there are cannot be used.
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
            place = .given(CredentialsSource(credentials))
            return
        }
        if let path, file != nil || access(path, F_OK) == 0 {
            place = .given(
                try CredentialsSource(file: path) { text throws(DestinationURLError) in
                    try S3Credentials(profile: profile, in: text, of: path)
                })
            return
        }
        guard let service = try KeyService(environment: environment) else {
            throw DestinationURLError(description: Self.needsKeys)
        }
        place = .served(ServedKeys(service))
    }

    static let needsKeys =
        "an s3:// destination needs credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials, or --credentials-file (credentials-file:)"

    /// As they were read last; without a character where a service was not asked yet.
    var value: S3Credentials {
        switch place {
        case .given(let source): source.value
        case .served(let keys): keys.value ?? S3Credentials("", "", nil)
        }
    }

    /// Those of a service; `nil` where they are here.
    var served: ServedKeys? {
        if case .served(let keys) = place { return keys }
        return nil
    }

    /// Looks whether they have changed; returns what is wrong with those that cannot be used, or renewed, now.
    func follow(at now: ContinuousClock.Instant) -> String? {
        switch place {
        case .given(let source): source.follow(at: now)
        case .served(let keys): keys.untoldProblem()
        }
    }

    /// Reads a file again. Returns whether it says something new.
    func readFileAgain() -> Bool {
        if case .given(let source) = place { return source.readAgain() }
        return false
    }
}
