import FerrySpool
import Glibc

extension CredentialsSource<S3Credentials> {
    /// Takes an object store's credentials: from a file that was named, the environment, or the profile file of AWS's tools.
    ///
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
            self.init(credentials)
            return
        }
        guard let path, file != nil || access(path, F_OK) == 0 else {
            throw DestinationURLError(
                description:
                    "an s3:// destination needs credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials, or --credentials-file (credentials-file:)"
            )
        }
        try self.init(file: path) { text throws(DestinationURLError) in
            try S3Credentials(profile: profile, in: text, of: path)
        }
    }
}
