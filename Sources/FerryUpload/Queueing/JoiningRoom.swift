import FerrySpool

/// What a joined request still has room for.
struct JoiningRoom {
    private let priority: Priority
    private let stream: String?
    /// `nil`: any number.
    private var bytes: ByteCount?
    /// As many as are likely to arrive before the deadline; `nil`: any number.
    private var bytesInTime: ByteCount?
    private var segments: Int
    private var header: Int
    private var takesTried = false
    /// Something of the same kind found no room.
    private(set) var isFull = false

    /// Servers take header lines of 8 KiB (nginx, Apache); a name with its size has 60 to 130 bytes.
    static let longestHeader = 7900
    /// All of them are claimed, and so open, at once.
    static let mostSegments = 128

    /// - Parameters:
    ///   - limit: The most bytes of a request.
    ///   - takesTried: Also what failed before: together, as it was.
    /// - Returns: `nil` when nothing may join the first segment: it comes from another tool, failed before, or is large itself.
    init?(limit: ByteCount, first: QueuedSegment, takesTried: Bool = false) {
        guard let name = SegmentName(first.name), takesTried || !first.entry.hasSidecar, let size = first.entry.size,
            size < limit
        else { return nil }
        self.takesTried = takesTried
        priority = name.priority
        stream = name.stream
        bytes = limit - size
        segments = Self.mostSegments - 1
        header = Self.longestHeader - first.name.utf8.count - Self.decoration
    }

    /// For segments whose events go out in requests of a bounded size, one after the other.
    ///
    /// - Parameter takesTried: Also what failed before: together, as it was.
    /// - Returns: `nil` when the first one failed before, or comes from another tool.
    init?(gathering first: QueuedSegment, takesTried: Bool = false) {
        guard let name = SegmentName(first.name), takesTried || !first.entry.hasSidecar else { return nil }
        self.takesTried = takesTried
        priority = name.priority
        stream = name.stream
        bytes = nil
        segments = Self.mostSegments - 1
        header = Self.longestHeader - first.name.utf8.count - Self.decoration
    }

    /// Leaves out what failed before from now on.
    mutating func leaveTried() { takesTried = false }

    /// Leaves out what would keep the request from arriving in time.
    ///
    /// - Parameter most: Of all segments together; `nil`: any number.
    mutating func keep(to most: ByteCount?, beside first: QueuedSegment) {
        bytesInTime = most.map { max(.zero, $0 - (first.entry.size ?? .zero)) }
    }

    /// `, ` and `;bytes=` with a number.
    private static let decoration = 20

    /// Takes a segment in if there is room for it, and it is of the same kind.
    mutating func take(_ entry: SpoolListing.Entry, _ name: String) -> Bool {
        let length = name.utf8.count + Self.decoration
        guard takesTried || !entry.hasSidecar, entry.priority == priority, let segment = SegmentName(name),
            segment.stream == stream
        else { return false }
        guard segments > 0, length <= header else {
            isFull = true
            return false
        }
        if let bytesInTime {
            guard let size = entry.size, size <= bytesInTime else {
                isFull = true
                return false
            }
            self.bytesInTime = bytesInTime - size
        }
        if let bytes {
            guard let size = entry.size, size <= bytes else { return false }
            self.bytes = bytes - size
        }
        segments -= 1
        header -= length
        return true
    }
}
