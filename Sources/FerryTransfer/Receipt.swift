import Crypto
import FerryIntake
public import FerrySpool
import FoundationEssentials

/// What a hub has of a bundle: carried back to the source, which then moves those segments to `sent/`.
public struct Receipt: Codable, Equatable, Sendable {
    public var version = 1
    public var bundle: String
    /// The ID of the spool that the bundle came from.
    public var spool: String
    /// The ID of the hub's spool.
    public var hub: String
    public var at: Timestamp
    public var segments: [Segment]

    public struct Segment: Codable, Equatable, Sendable {
        public var name: String
        /// Of the bytes that the hub has.
        public var sha256: String
    }

    /// The file's name beside the bundle. Two hubs' receipts for one bundle lie beside each other.
    public var fileName: String { "ferry-receipt-\(bundle)-\(hub).json" }

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
    init(_ bytes: [UInt8], from keys: PublicKeys?) throws(ReceiptProblem) {
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

    /// The receipt, and after it its signature: two lines.
    func bytes(signedBy keys: PrivateKeys?) -> [UInt8] {
        let body = JSONLine.encode(self)
        return body + (keys.map { JSONLine.encode(Signed(SHA256.hash(data: body), .receipt, by: $0)) } ?? [])
    }
}

/// Why a receipt is refused; nothing was changed.
public enum ReceiptProblem: Error, Equatable, CustomStringConvertible {
    case unreadable(String)
    case unsigned
    case forged
    /// The bundle comes from another spool.
    case foreign(String)
    /// Its bundle, of this spool, was acknowledged before, given up, or is not complete; so many of its segments are pending all the same.
    case notAwaited(bundle: String, pending: Int)
    /// The spool vouches for itself.
    case own
    /// It vouches for bytes that were never exported, or twice for the same.
    case contradicts(String)

    public var description: String {
        switch self {
        case .unreadable(let why): "the receipt cannot be read: \(why)"
        case .unsigned: "the receipt is not signed, and --from wants a signature"
        case .forged: "the receipt's signature is not by the key in --from"
        case .foreign(let why): "the receipt is not for this spool: \(why)"
        case .notAwaited(let bundle, 0):
            "the bundle \(bundle) waits for no receipt any more, and none of its segments is pending by its name: the receipt is of no more use"
        case .notAwaited(let bundle, let pending):
            "the bundle \(bundle) waits for no receipt any more: acknowledged before, given up, or its export did not end; \(pending) of its segments are pending"
        case .own: "the receipt was written by this very spool, which is no proof that its segments are anywhere else"
        case .contradicts(let segment): "the receipt has another checksum for \(segment) than the bundle had, or names it twice"
        }
    }
}

/// What acknowledging a receipt did.
public struct Acknowledgement: Equatable, Sendable {
    /// Now in `sent/`, but for what is ``deleted``.
    public var sent = 0
    public var bytes = ByteCount.zero
    /// Not pending any more: sent another way, dropped by a limit, or acknowledged before.
    public var alreadyGone = 0
    /// Still pending, with other bytes than the hub has: due again, as they are now.
    public var changed = 0
    /// Another process was just sending them, or they cannot be read; acknowledge again later.
    public var busy = 0
    /// Delivered segments, these among them, that were deleted because the disk is full.
    public var deleted = LedgerTotals.Count()
    /// Why one of them could not be opened, locked or read.
    public var failure: FileError?
    /// In the bundle, and in none of its receipts: due again. Told with the last of them.
    public var missing = 0
}

extension Spool {
    /// Moves the segments that a receipt vouches for to `sent/`.
    ///
    /// - Parameter keys: The hub's; then only a receipt that it signed is taken.
    /// - Throws: ``ReceiptProblem`` or ``FileError``.
    public func acknowledge(_ bytes: [UInt8], from keys: PublicKeys?, at now: Timestamp) throws -> Acknowledgement {
        try acknowledge([bytes], from: keys, at: now)[0].get()
    }

    /// The same for several receipts. Several hubs may have taken one bundle: what any of them has is not due again.
    ///
    /// - Returns: For each receipt what became of it, or its ``ReceiptProblem`` or ``FileError``.
    public func acknowledge(
        _ receipts: [[UInt8]], from keys: PublicKeys?, at now: Timestamp
    ) -> [Result<Acknowledgement, any Error>] {
        let checked = receipts.map { bytes in Result { try check(bytes, from: keys) } }
        let last = checked.indices.reduce(into: [String: Int]()) { last, index in
            if case .success(let (receipt, _)) = checked[index] { last[receipt.bundle] = index }
        }
        var vouched: [String: Set<FileName>] = [:]
        // Of bundles whose mark is still needed.
        var waiting: Set<String> = []
        return checked.indices.map { index in
            Result {
                let (receipt, mark) = try checked[index].get()
                let bundle = receipt.bundle
                var result: Acknowledgement
                do {
                    result = try settle(receipt, of: mark, without: vouched[bundle] ?? [], at: now)
                } catch {
                    waiting.insert(bundle)
                    throw error
                }
                vouched[bundle, default: []].formUnion(receipt.segments.map { FileName($0.name) })
                if result.busy > 0 { waiting.insert(bundle) }
                guard last[bundle] == index else { return result }
                result.missing = mark.segments.count { vouched[bundle]?.contains($0.name) != true }
                // What is busy is waited for; everything else of the bundle is sent, or due again.
                if !waiting.contains(bundle) { try unmark(bundle) }
                return result
            }
        }
    }

    /// Reads a receipt, and finds the mark of its bundle.
    private func check(_ bytes: [UInt8], from keys: PublicKeys?) throws -> (Receipt, ExportMark) {
        let receipt = try Receipt(bytes, from: keys)
        guard receipt.spool == id else { throw ReceiptProblem.foreign("its bundle comes from the spool \(receipt.spool)") }
        guard receipt.hub != id else { throw ReceiptProblem.own }
        guard let mark = try exportMarks().first(where: { $0.bundle == receipt.bundle && $0.state == .complete }) else {
            let pending = try receipt.segments.count { (segment) throws(FileError) in try directory.contains(segment.name) }
            throw ReceiptProblem.notAwaited(bundle: receipt.bundle, pending: pending)
        }
        let sums = Dictionary(mark.segments.map { (FileName($0.name), $0.sha256) }, uniquingKeysWith: { first, _ in first })
        var names: Set<FileName> = []
        for segment in receipt.segments where sums[segment.name] != segment.sha256 || !names.insert(segment.name).inserted {
            throw ReceiptProblem.contradicts(segment.name)
        }
        return (receipt, mark)
    }

    /// - Parameter settled: Segments that another receipt of the bundle vouched for.
    private func settle(
        _ receipt: Receipt, of mark: ExportMark, without settled: Set<FileName>, at now: Timestamp
    ) throws -> Acknowledgement {
        var result = Acknowledgement()
        var endings: [Ending] = []
        // By their names when they were exported.
        let newNames = try newNames(of: [mark])[0]
        let givesWay = sentMayGiveWay()
        if !receipt.segments.isEmpty {
            do throws(FileError) {
                try prepareSentFolder(at: now)
            } catch {
                // What finds no room there is deleted.
                guard givesWay, error.isDiskFull else { throw error }
            }
        }
        let exported = Dictionary(mark.segments.map { (FileName($0.name), $0.file) }, uniquingKeysWith: { first, _ in first })
        var received: Set<String>?
        // Each claim is an open file.
        let batch = min(128, OpenFiles.raiseLimit())
        for segment in receipt.segments where !settled.contains(segment.name) {
            switch claim(newNames[segment.name] ?? segment.name) {
            case .claimed(let claim):
                let digest: BodyDigest
                do throws(FileError) { digest = try claim.file.digest().digest } catch {
                    // One that cannot be read waits; the others go on.
                    result.busy += 1
                    result.failure = error
                    continue
                }
                // Appended to, or the name was used again for other bytes: the hub has not got these.
                guard digest.hexadecimal == segment.sha256 else {
                    result.changed += 1
                    continue
                }
                // What this spool gave away and got back is another file of the same name: the other side has ended its own.
                if let file = exported[segment.name] ?? nil, file != ExportedFile(claim.status) {
                    if received == nil { received = try receivedSegments() }
                    // What came back by rsync is in no log, and has a time of its own; a spool that was copied keeps the times of its files.
                    guard file.mayBeCopy(of: ExportedFile(claim.status)), received?.contains(segment.name) == false else {
                        result.changed += 1
                        continue
                    }
                }
                result.sent += 1
                result.bytes += claim.status.size
                endings.append(
                    Ending(
                        claim, .sent(keep: true),
                        LedgerEntry(
                            at: now, segment: claim.name, outcome: .sent, bytes: claim.status.size,
                            events: try? notedEvents(of: claim.name), destination: "bundle \(receipt.bundle)",
                            detail: LedgerEntry.received(by: receipt.hub) + receipt.at.rfc3339)))
            case .gone: result.alreadyGone += 1
            case .busy: result.busy += 1
            case .unusable(let error):
                result.busy += 1
                result.failure = error
            }
            if endings.count >= batch { result.deleted.add(try settle(&endings, sentGivesWay: givesWay)) }
        }
        result.deleted.add(try settle(&endings, sentGivesWay: givesWay))
        return result
    }

    /// The names of the segments that came here from elsewhere.
    private func receivedSegments() throws(FileError) -> Set<String> {
        var names: Set<String> = []
        var place = ReceivedLogPlace()
        try forEachReceived(after: &place) { names.insert($0.segment) }
        return names
    }

    /// Whether delivered segments make room where the disk is full: as the uploader of this spool was told, and where none ever kept one, as it
    /// is by default.
    private func sentMayGiveWay() -> Bool {
        if sentGivesWay { return true }
        guard (try? directory.contains(Self.sentName)) == false else { return false }
        _ = try? noteSentGivesWay(true)
        return true
    }

    /// Ends segments, as many at once as the disk has room for in the ledger, and closes them: those that then give way leave their blocks to it.
    ///
    /// - Returns: What was deleted for room.
    private func settle(_ endings: inout [Ending], sentGivesWay: Bool) throws(FileError) -> LedgerTotals.Count {
        var deleted = LedgerTotals.Count()
        var count = endings.count
        while !endings.isEmpty {
            count = min(count, endings.count)
            do throws(FileError) { deleted.add(try record(Array(endings[..<count]), sentGivesWay: sentGivesWay)) } catch {
                guard error.isOutOfSpace, count > 1 else { throw error }
                count /= 2
                continue
            }
            let changed = try carryOut(Array(endings[..<count]), sentGivesWay: sentGivesWay)
            try changed.sync()
            deleted.add(changed.deleted)
            endings.removeFirst(count)
        }
        return deleted
    }
}
