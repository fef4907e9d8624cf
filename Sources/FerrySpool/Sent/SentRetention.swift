/// What pruning `sent/` did.
public struct SentPruning: Sendable {
    public var deleted = LedgerTotals.Count()
    /// What could not be looked at or deleted: it stays, and everything else went on.
    public var problems: [FileError] = []
    /// There were days over the age limit, and they stay, because the clock has not been steady for an hour.
    public var isClockSettling = false

    public init() {}
}

extension Spool {
    /// Deletes delivered segments, oldest day first: whole days before the age limit, then single segments over the size limit. Links,
    /// and folders that are no day's, are left alone.
    ///
    /// They were delivered and are in the ledger, so this writes no line.
    ///
    /// - Parameter clock: Looked at when a day is over the age limit: while it cannot be trusted, the day stays. Days before 2020 are of a
    ///   clock that was not set, and stay too.
    public func pruneSent(
        _ limits: RetentionLimits, now: Timestamp, clock: ClockWatch.Reading = .now()
    ) -> SentPruning {
        var pruning = SentPruning()
        guard !limits.isUnlimited else { return pruning }
        var days = deliveryDays(&pruning)
        if let maxAge = limits.maxAge, days.contains(where: { $0.isOver(maxAge, at: now) }) {
            // Only now: a look is written down, and a disk with nothing to delete is left alone.
            let trustedNow = trusted(now, by: clock)
            pruning.isClockSettling = trustedNow == nil
            let over = trustedNow.map { now in days.filter { $0.isOver(maxAge, at: now) } } ?? []
            for day in over {
                for file in day.files(&pruning) { day.delete(file, &pruning) }
                day.removeIfEmpty(self, &pruning)
            }
            days.removeAll { day in over.contains { $0.name == day.name } }
        }
        guard let maxBytes = limits.maxBytes else { return pruning }
        let kept = days.map { day in (day: day, files: day.files(&pruning)) }
        var total = kept.reduce(ByteCount.zero) { sum, day in day.files.reduce(sum) { $0 + $1.size } }
        for (day, files) in kept where total > maxBytes {
            for file in files where total > maxBytes && day.delete(file, &pruning) { total = total - file.size }
            day.removeIfEmpty(self, &pruning)
        }
        return pruning
    }

    /// Deletes the oldest delivered segments until so much is free, and with the last of them `sent/`, which takes an inode.
    ///
    /// - Returns: What was deleted; `nil` when there was nothing that could make room.
    public func freeSent(atLeast wanted: ByteCount) -> LedgerTotals.Count? {
        var pruning = SentPruning()
        for day in deliveryDays(&pruning) {
            for file in day.files(&pruning) {
                if pruning.deleted.bytes >= wanted { return pruning.deleted }
                day.delete(file, &pruning)
            }
            day.removeIfEmpty(self, &pruning)
        }
        let isFolderRemoved = (try? directory.removeEmptyDirectory(Self.sentName)) ?? false
        return isFolderRemoved || pruning.deleted.segments > 0 ? pruning.deleted : nil
    }

    private func deliveryDays(_ pruning: inout SentPruning) -> [DeliveryDay] {
        var problems: [FileError] = []
        let days = sentDays { problems.append($0) }.compactMap(DeliveryDay.init)
        pruning.problems += problems
        return days
    }
}

/// A folder of `sent/` with a day's name.
private struct DeliveryDay {
    let folder: Directory
    let name: String

    init?(_ folder: Directory) {
        name = String(folder.path.suffix(10))
        guard folder.path.hasSuffix("/\(name)"), Timestamp(rfc3339: "\(name)T00:00:00Z") != nil else { return nil }
        self.folder = folder
    }

    /// Whether its time is over, by a clock that was set when it began.
    func isOver(_ age: Duration, at now: Timestamp) -> Bool {
        name < (now - age).day && name >= RetentionLimits.earliestCredibleTime.day
    }

    /// In upload order.
    func files(_ pruning: inout SentPruning) -> [(name: String, size: ByteCount)] {
        do throws(FileError) {
            var files: [(name: String, size: ByteCount)] = []
            // What is no segment was not delivered.
            for name in try folder.names() where ForeignName.isOfSegment(name) {
                if let status = try folder.status(name), status.isRegular { files.append((name, status.size)) }
            }
            return files
        } catch {
            pruning.problems.append(error)
            return []
        }
    }

    /// Returns whether the file is gone.
    @discardableResult
    func delete(_ file: (name: String, size: ByteCount), _ pruning: inout SentPruning) -> Bool {
        do throws(FileError) {
            try folder.remove(file.name)
        } catch {
            pruning.problems.append(error)
            return false
        }
        pruning.deleted.segments += 1
        pruning.deleted.bytes += file.size
        return true
    }

    func removeIfEmpty(_ spool: Spool, _ pruning: inout SentPruning) {
        do throws(FileError) { _ = try spool.sentFolder()?.removeEmptyDirectory(name) } catch { pruning.problems.append(error) }
    }
}
