import FerryIntake
public import FerrySpool

extension ExportsFolder {
    /// Moves the segments that a receipt vouches for to `sent/`.
    ///
    /// - Parameter keys: The hub's; then only a receipt that it signed is taken.
    /// - Throws: ``ReceiptError`` or `FileError`.
    public func acknowledge(_ bytes: [UInt8], from keys: PublicKeys?, at now: Timestamp) throws -> Acknowledgement {
        try acknowledge([bytes], from: keys, at: now)[0].get()
    }

    /// Does the same for several receipts. Several hubs may have taken one bundle: what any of them has is not due again.
    ///
    /// - Returns: For each receipt what became of it, or its ``ReceiptError`` or ``FileError``.
    public func acknowledge(
        _ receipts: [[UInt8]], from keys: PublicKeys?, at now: Timestamp
    ) -> [Result<Acknowledgement, any Error>] {
        acknowledge(receipts, from: keys, at: now) { _ in }
    }

    /// Does the same, and tells how far it is.
    package func acknowledge(
        _ receipts: [[UInt8]], from keys: PublicKeys?, at now: Timestamp, onProgress: (WorkProgress) -> Void
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
                    onProgress(.begins(.acknowledging, segments: Int64(receipt.segments.count), bytes: .zero))
                    result = try settle(receipt, of: mark, without: vouched[bundle] ?? [], at: now, onProgress)
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
        guard receipt.spool == spool.id else {
            throw ReceiptError.foreign(
                "its bundle comes from the spool \(receipt.spool), and this is \(spool.id): name that one with --spool")
        }
        guard receipt.hub != spool.id else { throw ReceiptError.own }
        guard let mark = try marks().first(where: { $0.bundle == receipt.bundle && $0.state == .complete }) else {
            let pending = try receipt.segments.count { (segment) throws(FileError) in try spool.directory.contains(segment.name) }
            throw ReceiptError.notAwaited(bundle: receipt.bundle, pending: pending)
        }
        let sums = Dictionary(mark.segments.map { (FileName($0.name), $0.sha256) }, uniquingKeysWith: { first, _ in first })
        var names: Set<FileName> = []
        for segment in receipt.segments where sums[segment.name] != segment.sha256 || !names.insert(segment.name).inserted {
            throw ReceiptError.contradicts(segment.name)
        }
        return (receipt, mark)
    }

    /// Ends the segments that a receipt vouches for.
    ///
    /// - Parameter settled: Segments that another receipt of the bundle vouched for.
    private func settle(
        _ receipt: Receipt, of mark: ExportMark, without settled: Set<FileName>, at now: Timestamp,
        _ onProgress: (WorkProgress) -> Void
    ) throws -> Acknowledgement {
        var result = Acknowledgement()
        var endings: [Ending] = []
        // By their names when they were exported.
        let newNames = try newNames(of: [mark])[0]
        let givesWay = sentMayGiveWay()
        if !receipt.segments.isEmpty {
            do throws(FileError) {
                try spool.sent.prepareFolder(at: now)
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
            var bytes = ByteCount.zero
            defer { onProgress(.done(bytes)) }
            switch spool.claims.take(newNames[segment.name] ?? segment.name) {
            case .claimed(let claim):
                bytes = claim.status.size
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
                            events: try? spool.notedEvents(of: claim.name), destination: "bundle \(receipt.bundle)",
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

    /// Returns the names of the segments that came here from elsewhere.
    private func receivedSegments() throws(FileError) -> Set<String> {
        var names: Set<String> = []
        var place = ReceivedLogPlace()
        try spool.received.forEach(after: &place) { names.insert($0.segment) }
        return names
    }

    /// Returns whether delivered segments make room where the disk is full: as the uploader of this spool was told, and where none ever kept one, as
    /// it is by default.
    private func sentMayGiveWay() -> Bool {
        if spool.sent.givesWay { return true }
        guard (try? spool.directory.contains(Spool.sentName)) == false else { return false }
        _ = try? spool.sent.noteGivesWay(true)
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
            do throws(FileError) {
                deleted.add(try spool.endings.record(Array(endings[..<count]), sentGivesWay: sentGivesWay))
            } catch {
                guard error.isOutOfSpace, count > 1 else { throw error }
                count /= 2
                continue
            }
            let changed = try spool.endings.carryOut(Array(endings[..<count]), sentGivesWay: sentGivesWay)
            try changed.sync()
            deleted.add(changed.deleted)
            endings.removeFirst(count)
        }
        return deleted
    }
}
