import FerrySpool

extension S3KeySource {
    /// Asks a service for keys where there are none that will do, or they end soon.
    ///
    /// - Returns: Why nothing can be sent now.
    func renew(at time: Timestamp) async -> Verdict? {
        guard let served, let error = await served.renew(at: time, by: KeyClient.ask) else { return nil }
        if Task.isCancelled { return Verdict(.cancelled) }
        return .unavailable(
            Verdict.Reason(kind: Verdict.Reason.noKeys, message: "\(served.service.description) gives no keys: \(error)"),
            retryAfter: nil)
    }

    /// Reads them, or asks for them, again. Returns whether they are others.
    func readAgain() async -> Bool {
        guard let served else { return readFileAgain() }
        return await served.readAgain(by: KeyClient.ask)
    }

    /// Looks whether there is an instance's metadata, which every machine may have. A container's service is named by its environment.
    ///
    /// - Throws: ``DestinationURLError`` where there are no keys. On an EC2 instance whose network is not there yet there may be some later.
    func find() async throws(DestinationURLError) {
        guard let served, case .instance = served.service, let error = await served.renew(at: .now(), by: KeyClient.ask) else {
            return
        }
        if error.isUnreachable, await blocking({ Self.isOnEC2 }) { return }
        throw DestinationURLError(description: "\(Self.needsKeys); \(served.service.description) gives none: \(error)")
    }

    /// Whether the firmware says that this machine is an EC2 instance (EC2 user guide, "Detect whether a host is an EC2 instance").
    private static var isOnEC2: Bool {
        [("/sys/class/dmi/id/sys_vendor", "Amazon EC2"), ("/sys/hypervisor/uuid", "ec2")].contains { path, beginning in
            let bytes = try? GivenFile.bytes(path, limit: .kibibytes(4))
            return bytes?.starts(with: beginning.utf8) ?? false
        }
    }
}

extension Destination {
    /// Looks for credentials where a question to EC2's instance metadata tells whether there are some.
    ///
    /// - Throws: ``DestinationURLError`` where there are none, within about a second.
    package func findCredentials() async throws(DestinationURLError) {
        if case .s3(_, let keys) = place { try await keys.find() }
    }
}
