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
}
