import Crypto
import FerryIntake
public import FerrySpool
import FoundationEssentials

/// What to put into a bundle.
public struct ExportOptions: Sendable {
    /// What fits onto the stick; `nil`: everything.
    public var maxBytes: ByteCount?
    /// One tar file instead of a folder.
    public var asTar = false
    /// Signs the manifest.
    public var signingKeys: PrivateKeys?
    /// Encrypts the segments to this recipient.
    public var recipient: PublicKeys?
    /// Also what an earlier bundle holds, whose receipt has not come.
    public var includesExported = false

    public init() {}
}

/// What an export did.
public struct ExportReport: Sendable {
    /// `nil` when there was nothing to export.
    public var path: String?
    public var bundle = ""
    public var segments = 0
    public var bytes = ByteCount.zero
    public var events: Int64 = 0
    /// Due segments that did not fit.
    public var left = 0
    /// Segments that somebody was just sending, or that may be still being written.
    public var busy = 0
    /// Segments that are no whole gzip: cut off, still on their way, or damaged. They stay.
    public var damaged = 0
    /// Segments that travel in an earlier bundle.
    public var alreadyExported = 0
}

/// Copies due segments into a bundle that travels by hand. They stay pending, marked, until a receipt arrives.
public struct Export {
    private let spool: Spool
    private let options: ExportOptions
    private let now: Timestamp

    public init(_ spool: Spool, options: ExportOptions, now: Timestamp) {
        self.spool = spool
        self.options = options
        self.now = now
    }

    /// What the manifest, the tar headers and the medium's own bookkeeping take for each segment.
    private static let overhead: Int64 = 2048
    /// Against gzip bombs with names from other tools, which are inflated to see whether they are whole.
    private static let inflateLimit = ByteCount.mebibytes(1024)

    /// - Throws: ``FileError``, of the spool or of the medium; marks are taken back then, and the spool is as it was.
    public func run(to destination: String) throws -> ExportReport {
        var report = ExportReport()
        report.bundle = SegmentID.random().text + SegmentID.random().text
        let chosen = try choose(&report)
        guard !chosen.isEmpty else { return report }
        // Before any copy leaves: whoever uploads leaves these alone from now on.
        try spool.mark(ExportMark(bundle: report.bundle, at: now, segments: chosen.map { .init(name: $0, sha256: "") }))
        do {
            let segments = try describe(chosen, &report)
            guard !segments.isEmpty else {
                try spool.unmark(report.bundle)
                return report
            }
            try spool.mark(
                ExportMark(bundle: report.bundle, at: now, segments: segments.map { .init(name: $0.name, sha256: $0.sha256) }))
            report.path = try copy(segments, to: destination, &report)
        } catch {
            try? spool.unmark(report.bundle)
            throw error
        }
        return report
    }

    private func choose(_ report: inout ExportReport) throws -> [String] {
        let exported = options.includesExported ? [] : try spool.exportedSegments()
        let listing = try spool.scan(sizes: true)
        var room = options.maxBytes?.bytes ?? .max
        room -= options.maxBytes == nil ? 0 : Self.overhead
        var chosen: [String] = []
        for entry in listing.entries {
            let name = listing.name(of: entry)
            if exported.contains(name) {
                report.alreadyExported += 1
                continue
            }
            let bytes = entry.size?.bytes ?? 0
            let size = options.recipient == nil ? bytes : Sealing.size(of: bytes)
            // In order: what is smaller and later does not go first.
            guard report.left == 0, size.adding(Self.overhead) <= room else {
                report.left += 1
                continue
            }
            guard case .claimed(let claim) = spool.claim(name), isSettled(claim) else {
                report.busy += 1
                continue
            }
            // What an upload would not send does not travel either: a receipt would end it.
            let examination = try claim.examine(.auto, inflateLimit: Self.inflateLimit)
            guard examination.damage == nil else {
                report.damaged += 1
                continue
            }
            guard claim.mayGrow(examination, now: now) == nil, claim.isUnchanged else {
                report.busy += 1
                continue
            }
            if options.maxBytes != nil { room -= size + Self.overhead }
            chosen.append(name)
        }
        return chosen
    }

    /// A file with a name from another tool may be still being written.
    private func isSettled(_ claim: Claim) -> Bool {
        claim.segmentName != nil || ForeignFile.isQuiet(changed: claim.status.changed, now: now)
    }

    private func describe(_ names: [String], _ report: inout ExportReport) throws -> [BundleManifest.Segment] {
        var segments: [BundleManifest.Segment] = []
        for name in names {
            guard let file = try spool.directory.open(name) else {
                report.busy += 1
                continue
            }
            let status = try file.status()
            let (digest, bytes) = try file.digest(size: status.size.bytes)
            let events = try spool.notedEvents(of: name)
            segments.append(
                .init(
                    file: BundleManifest.fileName(segments.count + 1), name: name,
                    key: try SegmentKey.key(of: name, spoolID: spool.id) { digest },
                    created: SegmentName(name)?.created ?? status.modified, bytes: bytes, sha256: digest.hexadecimal,
                    events: events))
            report.segments += 1
            report.bytes += ByteCount(bytes)
            report.events.add(events ?? 0)
        }
        return segments
    }

    private func copy(_ segments: [BundleManifest.Segment], to path: String, _ report: inout ExportReport) throws -> String {
        let manifest = BundleManifest(
            head: .init(
                bundle: report.bundle, spool: spool.id, createdAt: now, segments: segments.count, bytes: report.bytes.bytes,
                isEncrypted: options.recipient != nil), segments: segments)
        let destination = try BundleDestination(in: path, bundle: report.bundle, asTar: options.asTar, at: now)
        // First of all: what is pulled out half-way must still tell what it lacks.
        let bytes = manifest.bytes
        try destination.add(BundleManifest.fileName, size: Int64(bytes.count)) { try $0.write(bytes) }
        if let keys = options.signingKeys {
            let signature = JSONLine.encode(Signed(SHA256.hash(data: bytes), .bundle, by: keys))
            try destination.add(BundleManifest.signatureName, size: Int64(signature.count)) { try $0.write(signature) }
        }
        for segment in segments {
            guard let file = try spool.directory.open(segment.name) else {
                throw FileError("open", spool.directory.pathOf(segment.name), code: 2)
            }
            let region = FileRegion(file, size: segment.bytes)
            if let recipient = options.recipient {
                try destination.add(segment.file, size: Sealing.size(of: segment.bytes)) {
                    try Sealing.seal(region, into: $0, for: recipient, context: "\(report.bundle)/\(segment.name)")
                }
            } else {
                try destination.add(segment.file, size: segment.bytes) { target in
                    var copied: Int64 = 0
                    try region.forEachPiece {
                        try target.write($0)
                        copied += Int64($0.count)
                    }
                    guard copied == segment.bytes else { throw FileError("read", file.path, code: 5) }
                }
            }
        }
        return try destination.finish()
    }
}
