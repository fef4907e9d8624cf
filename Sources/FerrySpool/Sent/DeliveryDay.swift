/// A folder of `sent/` with a day's name.
struct DeliveryDay {
    let folder: Directory
    let name: String

    init?(_ folder: Directory) {
        name = String(folder.path.suffix(10))
        guard folder.path.hasSuffix("/\(name)"), Timestamp(rfc3339: "\(name)T00:00:00Z") != nil else { return nil }
        self.folder = folder
    }

    /// Returns whether its time is over, by a clock that was set when it began.
    func isOver(_ age: Duration, at now: Timestamp) -> Bool {
        name < (now - age).day && name >= RetentionLimits.earliestCredibleTime.day
    }

    /// Returns the segments of the day, in upload order.
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
