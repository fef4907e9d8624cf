import Crypto
import FerryIntake
public import FerrySpool
import FoundationEssentials
import Glibc

/// Copies due segments into a bundle that travels by hand. They stay pending, marked, until a receipt arrives.
public struct Export {
    private let spool: Spool
    private let options: ExportOptions
    private let now: Timestamp
    private let ways = Ways()
    /// Called as it goes.
    package var onProgress: (WorkProgress) -> Void = { _ in }

    /// Creates an export of a spool; nothing is done before ``run(to:)``.
    public init(_ spool: Spool, options: ExportOptions, now: Timestamp) {
        self.spool = spool
        self.options = options
        self.now = now
    }

    /// Against gzip bombs with names from other tools, which are inflated to see whether they are whole.
    private static let inflateLimit = ByteCount.mebibytes(1024)

    /// A segment that is to travel, and its file as it was when its checksum was taken.
    struct Chosen {
        var segment: BundleManifest.Segment
        let status: FileStatus
    }

    /// Exports due segments into a folder.
    ///
    /// - Throws: `FileError`, of the spool or of the medium; marks are taken back then, and the spool is as it was.
    public func run(to path: String) throws -> ExportReport {
        var report = ExportReport()
        let medium = try Directory.open(path)
        BundleDebris.remove(from: medium, of: spool, at: now)
        let names = try choose(for: medium, &report)
        guard !names.isEmpty else { return report }
        // Before any copy leaves: no uploader begins to send these from now on.
        let mark = try begin(names, &report)
        do {
            onProgress(.begins(.hashing, segments: Int64(mark.names.count), bytes: .zero))
            try write(describe(mark.names, &report), to: medium, as: mark, &report)
        } catch {
            mark.cancel()
            throw error
        }
        return report
    }

    /// Marks as many of the first segments as the spool's disk has room to name.
    private func begin(_ names: [String], _ report: inout ExportReport) throws(FileError) -> ExportUnderWay {
        var names = names
        while true {
            do throws(FileError) {
                let mark = try spool.exports.begin(of: names, at: now, includesTravelling: options.includesExported)
                // Another export has marked the others since they were chosen.
                report.alreadyExported += names.count - mark.names.count
                return mark
            } catch {
                guard error.isOutOfSpace, names.count > 1 else { throw error }
                let surplus = names.count - names.count / 2
                names.removeLast(surplus)
                report.left += surplus
            }
        }
    }

    private func choose(for medium: Directory, _ report: inout ExportReport) throws -> [String] {
        let listing = try spool.scan(sizes: true)
        report.others = listing.others
        let exported =
            options.includesExported ? [] : spool.exports.names(in: listing, of: try spool.exports.travelling(in: listing))
        var room = options.maxBytes.map { BundleRoom($0, on: medium, asTar: options.asTar) }
        var chosen: [String] = []
        onProgress(.begins(.checking, segments: Int64(listing.entries.count), bytes: listing.segmentBytes))
        for entry in listing.entries {
            let name = listing.name(of: entry)
            defer { onProgress(.done(entry.size ?? .zero)) }
            if exported.contains(name) {
                report.alreadyExported += 1
                continue
            }
            let bytes = entry.size?.bytes ?? 0
            let size = options.recipient == nil ? bytes : Sealing.size(of: bytes)
            if let room, let limit = options.maxBytes, !room.fitsAlone(size) {
                report.leftOut.append(
                    (
                        name,
                        "it takes \(ByteCount(room.cost(of: size))) there, and no bundle of \(limit) has that room: give a larger --max-bytes, or send it another way"
                    ))
                continue
            }
            // In order: what is smaller and later does not go first.
            guard report.left == 0, room?.fits(size) ?? true else {
                report.left += 1
                continue
            }
            guard isReady(name, &report) else { continue }
            room?.take(size)
            chosen.append(name)
        }
        return chosen
    }

    /// Returns whether a segment's content is whole. Nothing reads it on its way, and a receipt would end the only copy that may be mended.
    private func isSound(_ file: OpenFile) throws(FileError) -> Bool {
        do {
            _ = try file.countLines(limit: ByteCount(.max))
            return true
        } catch {
            if let error = error as? FileError { throw error }
            return false
        }
    }

    /// Returns whether a segment may travel now.
    private func isReady(_ name: String, _ report: inout ExportReport) -> Bool {
        do throws(FileError) {
            switch spool.claims.take(name) {
            case .claimed(let claim):
                guard isSettled(claim) else {
                    report.busy += 1
                    return false
                }
                if try spool.splitting.isHalfDone(claim) {
                    if try !endSplit(claim) { report.damaged += 1 }
                    return false
                }
                // What an upload would not send does not travel either: a receipt would end it.
                let examination = try claim.examine(.auto, inflateLimit: Self.inflateLimit)
                let hasBeenInflated = examination.lacksNotes
                guard examination.damage == nil, try hasBeenInflated ? true : isSound(claim.file) else {
                    report.damaged += 1
                    return false
                }
                guard claim.mayGrow(examination, now: now) == nil, claim.isUnchanged else {
                    report.busy += 1
                    return false
                }
                return true
            case .busy: report.busy += 1
            case .gone: break
            case .unusable(let error): throw error
            }
        } catch {
            report.leftOut.append((name, error.description))
        }
        return false
    }

    /// Ends a split that a crash interrupted, so that the halves travel: they would be sent once a receipt had ended the whole.
    ///
    /// - Returns: `false` where the whole is damaged.
    private func endSplit(_ claim: Claim) throws(FileError) -> Bool {
        let split: Split
        do throws(SplitError) {
            split = try spool.splitting.split(claim, at: now, inflateLimit: Self.inflateLimit)
        } catch {
            if case .file(let error) = error { throw error }
            return false
        }
        let entry = LedgerEntry(
            at: now, segment: split.parent.name, outcome: .split, bytes: split.parent.status.size,
            detail: "its split had not ended; its lines are now in \(split.halves.joined(separator: " and "))")
        try spool.endings.settle([Ending(split.parent, .split, entry)])
        return true
    }

    /// Returns whether a file is written to its end, as far as that can be seen. A file with a name from another tool may be still being written.
    private func isSettled(_ claim: Claim) -> Bool {
        claim.segmentName != nil || ForeignFile.isQuiet(changed: claim.touched, now: now)
    }

    /// Returns what the manifest says of each segment. What has gone since it was chosen is left out, and so is what an uploader claimed before it
    /// was marked: a process that claims it later sees the mark.
    func describe(_ names: [String], _ report: inout ExportReport) -> [Chosen] {
        var chosen: [Chosen] = []
        var looks = Self.mostLooks
        for name in names {
            var bytes = 0 as Int64
            defer { onProgress(.done(ByteCount(bytes))) }
            do throws(FileError) {
                if try isBusy(name, &looks) {
                    report.busy += 1
                    continue
                }
                guard let file = try spool.directory.open(name) else {
                    report.leftOut.append((name, GoneError.reason))
                    continue
                }
                let status = try file.status()
                let trail = ways.trail(of: file, SegmentName(name), in: spool)
                let digest: BodyDigest
                (digest, bytes) = try file.digest(size: status.size.bytes)
                let segment = BundleManifest.Segment(
                    file: "", name: name, key: try SegmentKey.key(of: name, spoolID: spool.id) { digest },
                    created: SegmentName(name)?.created ?? status.modified, bytes: bytes, sha256: digest.hexadecimal,
                    events: try spool.notedEvents(of: name), trail: trail.text)
                if let flaw = segment.flaw {
                    report.leftOut.append((name, "it \(flaw)"))
                } else {
                    chosen.append(Chosen(segment: segment, status: status))
                }
            } catch {
                report.leftOut.append((name, error.description))
            }
        }
        return chosen
    }

    /// Returns whether another process has a segment. Other exports and writers let go of a segment within moments: it is looked at several times.
    /// One whose uploader began to split it since it was chosen, and died, waits for the uploader or export that ends the split.
    private func isBusy(_ name: String, _ looks: inout Int) throws(FileError) -> Bool {
        while true {
            switch spool.claims.take(name) {
            case .busy:
                guard looks > 0 else { return true }
                looks -= 1
                usleep(5000)
            case .claimed(let claim): return try spool.splitting.isHalfDone(claim)
            case .gone, .unusable: return false
            }
        }
    }

    /// For the whole export, which is not to wait for uploaders.
    private static let mostLooks = 50

    /// A segment that was described, and is not there any more as it was.
    private struct GoneError: Error {
        let name: String
        var reason = Self.reason

        static let reason = "it has gone meanwhile: sent another way, dropped by a limit, or moved"
    }

    /// Writes the bundle. A segment that goes meanwhile is left out, and the others are written anew: the manifest comes first, and says
    /// what is there.
    func write(_ chosen: [Chosen], to medium: Directory, as mark: ExportUnderWay, _ report: inout ExportReport) throws {
        var chosen = chosen
        while !chosen.isEmpty {
            for index in chosen.indices { chosen[index].segment.file = BundleManifest.fileName(index + 1) }
            let destination = try BundleDestination(in: medium, bundle: mark.bundle, asTar: options.asTar, at: now)
            do {
                try fill(destination, with: chosen)
                let path = try destination.finish()
                try mark.finish(
                    chosen.map {
                        .init(name: $0.segment.name, sha256: $0.segment.sha256, file: ExportedFile($0.status))
                    })
                report.path = path
                report.bundle = mark.bundle
                report.segments = chosen.count
                for item in chosen {
                    report.bytes += ByteCount(item.segment.bytes)
                    report.events.add(item.segment.events ?? 0)
                    if item.segment.events == nil { report.uncounted += 1 }
                }
                return
            } catch let gone as GoneError {
                destination.discard()
                report.leftOut.append((gone.name, gone.reason))
                chosen.removeAll { FileName($0.segment.name) == FileName(gone.name) }
            } catch {
                destination.discard()
                throw error
            }
        }
        mark.cancel()
    }

    private func fill(_ destination: BundleDestination, with chosen: [Chosen]) throws {
        let manifest = BundleManifest(
            head: .init(
                bundle: destination.bundle, spool: spool.id, createdAt: now, segments: chosen.count,
                bytes: chosen.reduce(.zero) { $0 + ByteCount($1.segment.bytes) }.bytes, isEncrypted: options.recipient != nil),
            segments: chosen.map(\.segment))
        // First of all: what is pulled out half-way must still tell what it lacks.
        let bytes = manifest.bytes
        try destination.add(BundleManifest.fileName, size: Int64(bytes.count)) { try $0.write(bytes) }
        if let keys = options.signingKeys {
            let signature = JSONLine.encode(Signed(SHA256.hash(data: bytes), .bundle, by: keys))
            try destination.add(BundleManifest.signatureName, size: Int64(signature.count)) { try $0.write(signature) }
        }
        let total = chosen.reduce(ByteCount.zero) { $0 + ByteCount($1.segment.bytes) }
        onProgress(.begins(.copying, segments: Int64(chosen.count), bytes: total))
        for item in chosen { try copy(item, to: destination) }
    }

    private func copy(_ chosen: Chosen, to destination: BundleDestination) throws {
        let segment = chosen.segment
        let file: OpenFile
        do throws(FileError) {
            guard let opened = try spool.directory.open(segment.name) else { throw FileError("open", segment.name, code: ENOENT) }
            file = opened
        } catch {
            throw GoneError(name: segment.name, reason: error.code == ENOENT ? GoneError.reason : error.description)
        }
        try check(file, chosen)
        let region = FileRegion(file, size: segment.bytes)
        var copied: Int64 = 0
        do {
            if let recipient = options.recipient {
                try destination.add(segment.file, size: Sealing.size(of: segment.bytes)) {
                    try Sealing.seal(region, into: $0, for: recipient, context: "\(destination.bundle)/\(segment.name)")
                }
            } else {
                try destination.add(segment.file, size: segment.bytes) { target in
                    try region.forEachPiece {
                        try target.write($0)
                        copied += Int64($0.count)
                        onProgress(.passed(ByteCount(Int64($0.count))))
                    }
                    guard copied == segment.bytes else { throw FileError("read", file.path, code: EIO) }
                }
            }
        } catch let error as FileError where error.path == file.path {
            throw GoneError(name: segment.name, reason: error.description)
        }
        onProgress(.done(ByteCount(segment.bytes - copied)))
        try check(file, chosen)
    }

    /// Sees whether a file still has the bytes that its checksum is of.
    private func check(_ file: OpenFile, _ chosen: Chosen) throws(GoneError) {
        guard let status = try? file.status(), status.identity == chosen.status.identity, status.size == chosen.status.size,
            status.modified == chosen.status.modified
        else { throw GoneError(name: chosen.segment.name, reason: "it has changed meanwhile") }
    }
}
