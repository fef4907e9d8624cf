extension RejectedFolder {
    /// Returns the segments in `rejected/`, in upload order.
    public func segments(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> [RejectedSegment] {
        guard let folder = try spool.rejectedFolder() else { return [] }
        var segments: [RejectedSegment] = []
        for name in try folder.names() where !name.hasSuffix(".reason.json") && !name.hasPrefix(".") {
            guard let status = try folder.status(name), status.isRegular else { continue }
            let reasonName = Spool.reasonName(of: name)
            var reason: RejectionReason?
            do throws(FileError) {
                reason = try folder.readState(RejectionReason.self, from: reasonName, warn: warn)
            } catch {
                warn(UnreadableState(path: folder.pathOf(reasonName), reason: error.description))
            }
            segments.append(RejectedSegment(name: name, size: status.size, reason: reason))
        }
        return segments
    }

    /// Returns how many segments there are, and why the one was rejected that has lain there longest.
    ///
    /// - Parameter most: How many reasons are read. Of more segments, the first names' count.
    package func summary(reading most: Int = 100) throws(FileError) -> (count: Int64, first: RejectionReason?) {
        guard let folder = try spool.rejectedFolder() else { return (0, nil) }
        let names = try folder.names().filter { !$0.hasSuffix(".reason.json") && !$0.hasPrefix(".") }
        var first: RejectionReason?
        for name in names.prefix(most) {
            let reason = try? folder.readState(RejectionReason.self, from: Spool.reasonName(of: name), warn: { _ in })
            if let reason, reason.at < first?.at ?? .distantFuture { first = reason }
        }
        return (Int64(names.count), first)
    }
}
