import Crypto
import FerryIntake
public import FerrySpool
import FoundationEssentials
import Glibc

/// What to take from a bundle.
public struct ImportOptions: Sendable {
    /// Only what this sender signed.
    public var sender: PublicKeys?
    /// Opens what was encrypted, and signs the receipt.
    public var keys: PrivateKeys?
    /// The largest segment.
    public var maxSegment = ByteCount.mebibytes(1024)

    public init() {}
}

/// Why nothing of a bundle was taken.
public enum BundleProblem: Error, Equatable, CustomStringConvertible {
    case noManifest(String)
    case manifest(String, BundleManifest.Problem)
    case unsigned(String)
    case forged(String)
    case encrypted(String)

    public var description: String {
        switch self {
        case .noManifest(let path):
            "\(path) has no manifest: it is no bundle, or was pulled out before its first file was written"
        case .manifest(let path, let problem): "\(path): \(problem); export it again"
        case .unsigned(let path): "\(path) is not signed, and --from wants a signature"
        case .forged(let path): "\(path): the signature is not by the key in --from, or the manifest was changed"
        case .encrypted(let path): "\(path) is encrypted; --key names the key that opens it"
        }
    }
}

/// What an import did.
public struct ImportReport: Sendable {
    public var path: String
    public var bundle: String
    /// New in the hub's spool.
    public var stored = 0
    public var bytes = ByteCount.zero
    /// There already, with the same bytes.
    public var known = 0
    /// Not in the bundle: it was pulled out half-way.
    public var missing: [String] = []
    /// Not as the manifest says, each with the reason.
    public var damaged: [(name: String, reason: String)] = []
    public var receipt: Receipt
    /// The receipt as it is to be carried back, signed if there was a key.
    public var receiptBytes: [UInt8] = []

    public var isComplete: Bool { missing.isEmpty && damaged.isEmpty }
}

/// Takes bundles into a hub's spool, each segment once.
public struct Import {
    private let hub: Spool
    private let options: ImportOptions
    private var index: KeyIndex

    public init(_ hub: Spool, options: ImportOptions) throws(FileError) {
        self.hub = hub
        self.options = options
        index = try KeyIndex(hub)
    }

    /// Takes every bundle at a path: a bundle, a tar file, or a stick with several.
    ///
    /// - Throws: ``FileError`` of the hub's spool. A bundle that cannot be taken at all is a failure of its own.
    public mutating func run(_ path: String, at now: Timestamp) throws -> [Result<ImportReport, BundleProblem>] {
        try BundleSource.find(path).map { source in
            do {
                return .success(try take(source, at: now))
            } catch let problem as BundleProblem {
                return .failure(problem)
            }
        }
    }

    private mutating func take(_ source: BundleSource, at now: Timestamp) throws -> ImportReport {
        let manifest = try manifest(of: source)
        let bundle = manifest.head.bundle
        var report = ImportReport(
            path: source.path, bundle: bundle,
            receipt: Receipt(bundle: bundle, spool: manifest.head.spool, hub: hub.id, at: now, segments: []))
        var batch: [(arrival: Arrival, entry: ReceivedEntry, segment: BundleManifest.Segment)] = []
        defer { for item in batch { hub.discard(item.arrival) } }
        for segment in manifest.segments {
            guard let digest = BodyDigest(hexadecimal: segment.sha256) else {
                report.damaged.append((segment.name, "its checksum is none"))
                continue
            }
            if let known = index[segment.key] {
                if known == digest {
                    report.known += 1
                    report.receipt.segments.append(.init(name: segment.name, sha256: digest.hexadecimal))
                } else {
                    report.damaged.append((segment.name, "its key came before, with other bytes"))
                }
                continue
            }
            guard let region = try source.region(segment.file) else {
                report.missing.append(segment.name)
                continue
            }
            let arrival = try hub.beginArrival()
            do {
                try copy(region, segment, manifest.head, to: arrival, expecting: digest)
            } catch let refusal as Refusal {
                hub.discard(arrival)
                report.damaged.append((segment.name, refusal.reason))
                continue
            }
            let entry = ReceivedEntry(
                at: now, key: segment.key, sha256: digest.hexadecimal, segment: Self.name(for: segment), bytes: segment.bytes,
                events: segment.events ?? 0)
            batch.append((arrival, entry, segment))
            if batch.count == Self.batchSize { try admit(&batch, &report) }
        }
        try admit(&batch, &report)
        report.receiptBytes = report.receipt.bytes(signedBy: options.keys)
        return report
    }

    /// So many segments share their forced writes. Each is an open file until then: as many as the process may have, with some to spare.
    private static let batchSize: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4096))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(64, min(Int(limit.rlim_cur) / 2, 2048))
    }()

    private mutating func admit(
        _ batch: inout [(arrival: Arrival, entry: ReceivedEntry, segment: BundleManifest.Segment)], _ report: inout ImportReport
    ) throws {
        let isNew = try hub.admit(batch.map { ($0.arrival, $0.entry) }, isBulk: true)
        for (item, isNew) in zip(batch, isNew) {
            let digest = BodyDigest(hexadecimal: item.entry.sha256)
            if isNew {
                report.stored += 1
                report.bytes += ByteCount(item.entry.bytes)
            } else {
                hub.discard(item.arrival)
                // It came another way, by rsync say.
                guard let file = try hub.directory.open(item.entry.segment),
                    try file.digest().digest == digest
                else {
                    report.damaged.append((item.segment.name, "the hub has another segment of this name"))
                    continue
                }
                try hub.logReceived([item.entry])
                report.known += 1
            }
            index[item.entry.key] = digest
            report.receipt.segments.append(.init(name: item.segment.name, sha256: item.entry.sha256))
        }
        batch = []
    }

    private func manifest(of source: BundleSource) throws -> BundleManifest {
        guard let region = try source.region(BundleManifest.fileName) else { throw BundleProblem.noManifest(source.path) }
        let bytes = try region.bytes(limit: .mebibytes(512))
        if let sender = options.sender {
            guard let signature = try source.region(BundleManifest.signatureName)?.bytes(limit: .kibibytes(4)),
                let signed = signature.withUnsafeBufferPointer({ JSONLine.decode(Signed.self, $0) })
            else { throw BundleProblem.unsigned(source.path) }
            guard signed.isValid(for: SHA256.hash(data: bytes), .bundle, by: sender) else {
                throw BundleProblem.forged(source.path)
            }
        }
        let manifest: BundleManifest
        do throws(BundleManifest.Problem) {
            manifest = try BundleManifest(bytes)
        } catch {
            throw BundleProblem.manifest(source.path, error)
        }
        if manifest.head.isEncrypted, options.keys == nil { throw BundleProblem.encrypted(source.path) }
        return manifest
    }

    /// Why one segment is not taken.
    private struct Refusal: Error { let reason: String }

    private func copy(
        _ region: FileRegion, _ segment: BundleManifest.Segment, _ head: BundleManifest.Head, to arrival: Arrival,
        expecting digest: BodyDigest
    ) throws {
        guard ByteCount(segment.bytes) <= options.maxSegment else {
            throw Refusal(reason: "it is larger than \(options.maxSegment)")
        }
        let expected = head.isEncrypted ? Sealing.size(of: segment.bytes) : segment.bytes
        guard region.size == expected else { throw Refusal(reason: "it has \(region.size) bytes instead of \(expected)") }
        var hash = SHA256()
        func take(_ piece: UnsafeRawBufferPointer) throws {
            hash.update(bufferPointer: piece)
            try arrival.file.write(piece)
        }
        do {
            if head.isEncrypted, let keys = options.keys {
                try Sealing.open(region, with: keys, context: "\(head.bundle)/\(segment.name)", take)
            } else {
                try region.forEachPiece(take)
            }
        } catch Sealing.Failure.unreadable {
            throw Refusal(reason: "it cannot be decrypted: another key, or damaged bytes")
        } catch Sealing.Failure.truncated {
            throw Refusal(reason: "it ends too early")
        } catch let error as FileError where error.code == EIO && error.operation == "read" {
            throw Refusal(reason: "\(error)")
        }
        guard BodyDigest(hash.finalize()) == digest else { throw Refusal(reason: "its checksum is wrong") }
    }

    /// As the hub's receiver names them: their own names, or one made from the key for names from other tools.
    private static func name(for segment: BundleManifest.Segment) -> String {
        if SegmentName(segment.name) != nil { return segment.name }
        return SegmentName(priority: .normal, created: segment.created, id: ReceivedID(segment.key).id).fileName
    }
}
