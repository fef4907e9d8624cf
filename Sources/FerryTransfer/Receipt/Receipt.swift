import Crypto
public import FerrySpool

/// What a hub has of a bundle: carried back to the source, which then moves those segments to `sent/`.
public struct Receipt: Codable, Equatable, Sendable {
    /// The format's version.
    public var version = 1
    /// The bundle's random ID.
    public var bundle: String
    /// The ID of the spool that the bundle came from.
    public var spool: String
    /// The ID of the hub's spool.
    public var hub: String
    /// When the receipt was made.
    public var at: Timestamp
    /// The segments that the hub has.
    public var segments: [Segment]

    /// A segment that the hub has.
    public struct Segment: Codable, Equatable, Sendable {
        /// The segment's file name, as the bundle's manifest has it.
        public var name: String
        /// Of the bytes that the hub has.
        public var sha256: String
    }

    /// The file's name beside the bundle. Two hubs' receipts for one bundle lie beside each other.
    public var fileName: String { "\(Self.prefix)\(bundle)-\(hub).json" }

    /// What the names of receipts begin with.
    package static let prefix = "ferry-receipt-"

    init(bundle: String, spool: String, hub: String, at: Timestamp, segments: [Segment]) {
        self.bundle = bundle
        self.spool = spool
        self.hub = hub
        self.at = at
        self.segments = segments
    }

    /// Reads a receipt.
    ///
    /// - Parameter keys: The hub's; then only a receipt that it signed is taken.
    init(_ bytes: [UInt8], from keys: PublicKeys?) throws(ReceiptError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let body = lines.first, let receipt = body.withUnsafeBufferPointer({ JSONLine.decode(Receipt.self, $0) }) else {
            throw .unreadable("it is no receipt of Ferry's")
        }
        guard receipt.version == 1 else { throw .unreadable("it has version \(receipt.version); this Ferry knows 1") }
        if let flaw = receipt.flaw { throw .unreadable(flaw) }
        self = receipt
        guard let keys else { return }
        guard lines.count > 1, let signed = lines[1].withUnsafeBufferPointer({ JSONLine.decode(Signed.self, $0) }) else {
            throw .unsigned
        }
        guard signed.isValid(for: SHA256.hash(data: Array(body) + [UInt8(ascii: "\n")]), .receipt, by: keys) else {
            throw .forged
        }
    }

    /// What no hub writes: the names and IDs go to a terminal, into the ledger and into paths. `nil` when it is sound.
    private var flaw: String? {
        guard BundleManifest.isID(bundle) else { return "its bundle has no proper ID" }
        guard Spool.isID(spool), Spool.isID(hub) else { return "it names no proper spools" }
        for (index, segment) in segments.enumerated() {
            guard ForeignName.isLegal(segment.name) else { return "its segment \(index + 1) has a name that no segment may have" }
            guard BodyDigest(hexadecimal: segment.sha256) != nil else { return "its segment \(index + 1) has no proper checksum" }
        }
        return nil
    }

    /// Returns the receipt, and after it its signature: two lines.
    func bytes(signedBy keys: PrivateKeys?) -> [UInt8] {
        let body = JSONLine.encode(self)
        return body + (keys.map { JSONLine.encode(Signed(SHA256.hash(data: body), .receipt, by: $0)) } ?? [])
    }
}
