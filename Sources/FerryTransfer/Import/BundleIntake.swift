import Crypto
import FerryIntake
import FerrySpool
import FoundationEssentials
import Glibc

/// Takes one bundle.
struct BundleIntake {
    private let place: BundlePlace
    /// The bundle, once a file of it was wanted.
    private var opened: BundleSource?
    private let manifest: BundleManifest
    private let hub: Spool
    private let options: ImportOptions
    private let now: Timestamp
    private var report: ImportReport
    /// How many segments share their forced writes. Each is an open file until then.
    private let batchSize: Int
    private var spares = SpareFiles()
    private var batch: [Item] = []
    private var batchKeys: Set<String> = []
    /// What those of the batch may be halves of.
    private var batchWholes: Set<String> = []

    private struct Item {
        let arrival: Arrival
        let entry: ReceivedEntry
        let segment: BundleManifest.Segment
    }

    /// Reads the manifest. Returns `nil` when there is no bundle.
    init?(
        _ place: BundlePlace, into hub: Spool, _ options: ImportOptions, batchSize: Int, at now: Timestamp
    ) throws(BundleError) {
        guard let source = try place.open() else { return nil }
        self.place = place
        self.batchSize = batchSize
        self.hub = hub
        self.options = options
        self.now = now
        manifest = try source.manifest(signedBy: options.sender, openedWith: options.keys)
        // What it holds is here, but no second time: a receipt would end the only one.
        guard manifest.head.spool != hub.id else { throw .own(source.path) }
        report = ImportReport(
            path: source.path, bundle: manifest.head.bundle, source: manifest.head.spool,
            receipt: Receipt(bundle: manifest.head.bundle, spool: manifest.head.spool, hub: hub.id, at: now, segments: []))
        if options.sender == nil { report.isSignedUnchecked = try source.isSigned() }
    }

    var keys: [String] { manifest.soundSegments.map(\.key) }
    /// How many segments it names.
    var segments: Int { manifest.segments.count }
    /// How large the sound ones of them are together.
    var bytes: ByteCount { manifest.soundSegments.reduce(.zero) { $0 + ByteCount($1.bytes) } }

    /// - Parameter onProgress: Called as it goes.
    mutating func take(
        _ holdings: inout Holdings, _ onProgress: (WorkProgress) -> Void
    ) throws(BundleError) -> ImportReport {
        spares.fill()
        do throws(FileError) {
            for (index, segment) in manifest.segments.enumerated() {
                if let flaw = manifest.flaws[index] {
                    report.damaged.append((segment.name, "it \(flaw), in line \(index + 2) of the manifest"))
                    onProgress(.done(.zero))
                } else {
                    try takeOrMakeRoom(segment, &holdings)
                    onProgress(.done(ByteCount(segment.bytes)))
                }
            }
            try admit(&holdings)
        } catch {
            // What was copied until then is kept: the next import does not begin at zero. Its names need some room too.
            if error.isDiskFull { giveUpLast() }
            do throws(FileError) { try admit(&holdings) } catch {}
            report.failure = error
            report.untaken =
                manifest.segments.count - report.stored - report.known - report.missing.count - report.damaged.count
                - report.withheld.count
            if report.receipt.segments.isEmpty, report.sentDeleted.segments == 0 { throw .hub(report.path, error) }
        }
        report.receiptBytes = report.receipt.bytes(signedBy: options.keys)
        return report
    }

    private mutating func takeOrMakeRoom(_ segment: BundleManifest.Segment, _ holdings: inout Holdings) throws(FileError) {
        if batch.count == batchSize || isKinOfBatch(segment.key) { try admit(&holdings) }
        while true {
            do throws(FileError) {
                return try take(segment, &holdings)
            } catch {
                if error.isOutOfFiles, !batch.isEmpty {
                    // The batch gives its files back.
                    try admit(&holdings)
                } else {
                    guard makeRoom(ByteCount(segment.bytes), after: error) else { throw error }
                }
            }
        }
    }

    /// Gives up the last copies of a batch, so that there is room for the log of the others.
    private mutating func giveUpLast() {
        var freed = ByteCount.zero
        while freed < .kibibytes(64), batch.count > 1, let last = batch.popLast() {
            // Most file systems give blocks of 4 KiB, also to a segment of some bytes.
            freed += max(ByteCount(last.entry.bytes), .kibibytes(4))
            hub.arrivals.discard(last.arrival)
        }
    }

    /// Deletes delivered segments of the hub, if they give way. Returns whether there is more room now.
    private mutating func makeRoom(_ wanted: ByteCount, after error: FileError) -> Bool {
        guard error.isDiskFull, hub.sent.givesWay, let deleted = hub.sent.free(atLeast: max(wanted, .kibibytes(64))) else {
            return false
        }
        report.sentDeleted.add(deleted)
        return true
    }

    /// Returns a file of the bundle; `nil` when it is not there.
    private mutating func region(_ file: String) throws(FileError) -> FileRegion? {
        if opened == nil {
            do throws(BundleError) { opened = try place.open() } catch {
                guard case .unreadable(let error) = error else { return nil }
                throw error
            }
        }
        return try opened?.region(file)
    }

    private mutating func take(_ segment: BundleManifest.Segment, _ holdings: inout Holdings) throws(FileError) {
        if let known = try known(segment, events: segment.events, &holdings) { return try noteKnown(segment, known, &holdings) }
        let region: FileRegion?
        do throws(FileError) { region = try self.region(segment.file) } catch {
            // It is not the file's fault.
            if error.isOutOfFiles { throw error }
            report.damaged.append((segment.name, error.description))
            return
        }
        guard let region else {
            report.missing.append(segment.name)
            return
        }
        let arrival = try hub.arrivals.begin()
        let way = segment.way.adding(manifest.head.spool)
        arrival.file.setTrail(way)
        let events: Int64
        do {
            try copy(region, segment, to: arrival)
            events = try segment.events ?? Self.count(arrival.file)
        } catch {
            hub.arrivals.discard(arrival)
            if let error = error as? FileError { throw error }
            report.damaged.append((segment.name, (error as? RefusalError)?.reason ?? "\(error)"))
            return
        }
        let entry = ReceivedEntry(
            at: now, key: segment.key, sha256: segment.sha256, segment: Self.name(for: segment), bytes: segment.bytes,
            events: events, file: arrival.fileName, bundle: manifest.head.bundle, trail: way)
        batch.append(Item(arrival: arrival, entry: entry, segment: segment))
        batchKeys.formUnion(ReceivedID.keys(like: segment.key))
        batchWholes.formUnion(SegmentID.ancestors(of: segment.key).map(\.text))
    }

    /// Returns whether the batch has a segment of this key, a half of it, or what it is a half of: each is judged by what came before it.
    private func isKinOfBatch(_ key: String) -> Bool {
        ReceivedID.keys(like: key).contains { batchKeys.contains($0) || batchWholes.contains($0) }
            || SegmentID.ancestors(of: key).contains { batchKeys.contains($0.text) }
    }

    /// Counts the events of a segment that does not note how many it holds: by their number halves are known. 0 for what cannot be inflated.
    private static func count(_ file: OpenFile) throws(FileError) -> Int64 {
        do { return try file.countLines(limit: .mebibytes(1024)) } catch {
            if let error = error as? FileError { throw error }
            return 0
        }
    }

    /// Hands the batch over to the hub's spool. Where the disk is full for it, its copies are gone, and are made again when there is room.
    private mutating func admit(_ holdings: inout Holdings) throws(FileError) {
        while !batch.isEmpty {
            let items = batch
            batch = []
            (batchKeys, batchWholes) = ([], [])
            do throws(FileError) {
                try admit(items, &holdings)
            } catch {
                guard makeRoom(items.reduce(.zero) { $0 + ByteCount($1.entry.bytes) }, after: error) else { throw error }
                // Some of them may have been decided on before.
                let decided = Set(report.receipt.segments.map(\.name) + (report.damaged + report.withheld).map(\.name))
                for item in items where !decided.contains(item.segment.name) { try takeOrMakeRoom(item.segment, &holdings) }
            }
        }
    }

    /// Hands files to the hub's spool. The hub's spool decides what becomes of the files.
    private mutating func admit(_ items: [Item], _ holdings: inout Holdings) throws(FileError) {
        spares.giveBack()
        defer { spares.fill() }
        // The copying and the forced writes take long: another import, or a receiver, may have brought the same meanwhile, and an uploader
        // may have sent it on.
        var hasLookedAgain = false
        let items = try judgeable(items, holdings)
        let bySegment = Dictionary(items.map { ($0.entry.key, $0.segment) }) { first, _ in first }
        let results = try hub.arrivals.admit(items.map { ($0.arrival, $0.entry) }, forcing: .fileSystem) {
            entry throws(FileError) -> Bool in
            if !hasLookedAgain { try holdings.lookAgain() }
            hasLookedAgain = true
            guard let segment = bySegment[entry.key] else { return false }
            return try known(segment, events: entry.events, &holdings) != nil
        }
        for (item, admitted) in zip(items, results) {
            switch admitted {
            case .known:
                let known = try known(item.segment, events: item.entry.events, &holdings)
                try noteKnown(item.segment, known, &holdings)
                continue
            case .stored:
                report.stored += 1
                report.bytes += ByteCount(item.entry.bytes)
            case .nameTaken:
                // It came another way, by rsync say.
                guard let file = try? hub.directory.open(item.entry.segment),
                    (try? file.digest().digest) == BodyDigest(hexadecimal: item.entry.sha256)
                else {
                    report.damaged.append((item.segment.name, "the hub has another segment of this name"))
                    continue
                }
                if try withholds(item.segment, &holdings) { continue }
                let way = item.segment.way.adding(manifest.head.spool)
                guard try hub.arrivals.canAnswer(for: file, named: item.entry.segment, whichCame: way, besides: holdings.ways)
                else {
                    report.withheld.append((item.segment.name, HandedOn.Claim.leaving.description))
                    continue
                }
                var entry = item.entry
                (entry.file, entry.answered) = (nil, true)
                try hub.received.log([entry])
                report.known += 1
            case .left(let error):
                report.damaged.append((item.segment.name, "it is here, but has no name yet: \(error); import again"))
                continue
            }
            holdings.add(item.entry)
            vouch(for: item.segment)
        }
    }

    /// Returns the items without those of which a copy is just coming another way, by rsync say.
    private mutating func judgeable(_ items: [Item], _ holdings: Holdings) throws(FileError) -> [Item] {
        var judgeable: [Item] = []
        do throws(FileError) {
            for item in items {
                if try holdings.adoptKin(of: item.entry.segment) {
                    judgeable.append(item)
                } else {
                    hub.arrivals.discard(item.arrival)
                    let reason = "a file with its events is just being copied into the hub: import again"
                    report.damaged.append((item.segment.name, reason))
                }
            }
        } catch {
            for item in items { hub.arrivals.discard(item.arrival) }
            throw error
        }
        return judgeable
    }

    /// Returns what is known of a segment; `nil` when it is new, or was sent on to another spool, which may be where it comes from: then it is taken
    /// again.
    private func known(
        _ segment: BundleManifest.Segment, events: Int64?, _ holdings: inout Holdings
    ) throws(FileError) -> Known? {
        guard let known = try holdings.known(segment.key, segment: segment.name, events: events) else { return nil }
        // The claim has its own words.
        if known.key == .cameInPart || segment.way.spools.contains(hub.id) { return Known(key: known.key, vouching: .vouched) }
        if holdings.came(segment.key, with: manifest.head.bundle) { return Known(key: known.key, vouching: .vouched) }
        let vouching = try holdings.vouching(
            for: known, whichCame: segment.way, from: manifest.head.spool, as: Self.name(for: segment))
        let answer = known.answer(
            to: ReceivedEntry(
                at: now, key: segment.key, sha256: segment.sha256, segment: Self.name(for: segment), bytes: segment.bytes,
                events: segment.events ?? events ?? 0, trail: nil))
        return vouching == .takenAgain ? nil : Known(key: known.key, vouching: vouching, answer: answer)
    }

    private struct Known {
        let key: KnownKey
        let vouching: Vouching
        /// What is to be logged before the hub answers for it.
        var answer: ReceivedEntry?
    }

    private mutating func noteKnown(
        _ segment: BundleManifest.Segment, _ known: Known?, _ holdings: inout Holdings
    ) throws(FileError) {
        if known?.key == .cameInPart {
            report.damaged.append(
                (segment.name, "a half of it is here already: take the other half's bundle, or let it be sent over HTTP"))
            return
        }
        guard known?.key.agrees(with: BodyDigest(hexadecimal: segment.sha256)) ?? false else {
            report.damaged.append((segment.name, "its key came before, with other bytes"))
            return
        }
        if try withholds(segment, &holdings) { return }
        if known?.vouching == .underWay {
            report.withheld.append((segment.name, HandedOn.Claim.leaving.description))
            return
        }
        if let answer = known?.answer { try hub.received.log([answer]) }
        report.known += 1
        vouch(for: segment)
    }

    /// Returns whether what the hub has of a segment is none to vouch for.
    private mutating func withholds(_ segment: BundleManifest.Segment, _ holdings: inout Holdings) throws(FileError) -> Bool {
        let claim = try holdings.ownClaim(on: Self.name(for: segment), segment, against: manifest.head)
        guard let claim else { return false }
        report.withheld.append((segment.name, claim.description))
        return true
    }

    private mutating func vouch(for segment: BundleManifest.Segment) {
        report.receipt.segments.append(.init(name: segment.name, sha256: segment.sha256))
    }

    /// Why one segment is not taken.
    private struct RefusalError: Error { let reason: String }

    /// Copies a file of the bundle into the hub's spool.
    ///
    /// - Throws: ``RefusalError``, or the `FileError` of the hub's spool.
    private func copy(_ region: FileRegion, _ segment: BundleManifest.Segment, to arrival: Arrival) throws {
        let head = manifest.head
        let expected = head.isEncrypted ? Sealing.size(of: segment.bytes) : segment.bytes
        guard region.size == expected else { throw RefusalError(reason: "it has \(region.size) bytes instead of \(expected)") }
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
        } catch Sealing.SealingError.unreadable {
            throw RefusalError(reason: "it cannot be decrypted: another key, or damaged bytes")
        } catch Sealing.SealingError.truncated {
            throw RefusalError(reason: "it ends too early")
        } catch let error as FileError where error.path == region.file.path {
            throw RefusalError(reason: "\(error)")
        }
        guard BodyDigest(hash.finalize()) == BodyDigest(hexadecimal: segment.sha256) else {
            throw RefusalError(reason: "its checksum is wrong")
        }
    }

    /// Returns the name that the hub's receiver would give: the segment's own, or one made from the key for names from other tools.
    private static func name(for segment: BundleManifest.Segment) -> String {
        if SegmentName(segment.name) != nil { return segment.name }
        return SegmentName(receivedUnder: segment.key, created: segment.created).fileName
    }
}
