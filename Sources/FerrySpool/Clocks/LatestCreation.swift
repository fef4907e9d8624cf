/// The content of `.ferry/created.json`: one line, always of one length, so that it is replaced in place.
struct LatestCreation: Equatable {
    /// Which boot of the machine it was written in.
    var boot: String
    var created: Timestamp

    static let thisBoot = BootID.current ?? String(repeating: "0", count: bootLength)

    private static let bootLength = BootID.length
    private static let bootStart = 9
    private static let createdStart = bootStart + bootLength + 13
    private static let createdLength = 24
    static let length = createdStart + createdLength + 15

    init(boot: String, created: Timestamp) {
        self.boot = boot
        self.created = created
    }

    /// Reads a line; `nil` unless it is exactly such a line.
    init?(_ line: [UInt8]) {
        guard line.count == Self.length else { return nil }
        boot = String(decoding: line[Self.bootStart...].prefix(Self.bootLength), as: UTF8.self)
        let text = String(decoding: line[Self.createdStart...].prefix(Self.createdLength), as: UTF8.self)
        guard let created = Timestamp(rfc3339: text) else { return nil }
        self.created = created
        guard self.line == line else { return nil }
    }

    var line: [UInt8] { Array("{\"boot\":\"\(boot)\",\"created\":\"\(created.rfc3339)\",\"version\":1}\n".utf8) }
}
