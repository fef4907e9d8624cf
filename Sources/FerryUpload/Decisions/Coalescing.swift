import FerrySpool

/// Several small segments in one request: their gzip members follow one another, nothing is compressed again.
enum Coalescing {
    /// What a joined request still has room for.
    struct Room {
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

    /// The value of `Ferry-Segment`: each name with its bytes, as parameters of a structured field's list (RFC 9651).
    static func header(_ segments: [SegmentFacts]) -> String {
        segments.map { "\($0.name);bytes=\($0.bytes.bytes)" }.joined(separator: ", ")
    }

    /// The value of `Ferry-Via`: for each segment the IDs of the spools that it came out of, `-` for none; `nil` when no segment has any.
    static func via(_ segments: [SegmentFacts]) -> String? {
        guard segments.contains(where: { !$0.trail.spools.isEmpty }) else { return nil }
        return segments.map { via($0.trail) }.joined(separator: ", ")
    }

    private static func via(_ trail: Trail) -> String { trail.spools.isEmpty ? "-" : trail.spools.joined(separator: " ") }

    /// How many of the first segments have their ways in one header line.
    static func fitting(_ trails: some Sequence<Trail>) -> Int {
        var (count, length) = (0, 0)
        for trail in trails {
            length += via(trail).utf8.count + 2
            if count > 0, length > Room.longestHeader { break }
            count += 1
        }
        return count
    }

    /// The same for the same segments in every process, and never the same for others: the first and the number of IDs, which are
    /// random, and a sum over all of them.
    static func key(_ segments: [SegmentFacts]) -> String { key(segments.map(\.id)) }

    static func key(_ ids: [String]) -> String {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for id in ids {
            for byte in id.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return "\(ids[0])+\(ids.count - 1)-\(String(sum, radix: 36))"
    }

    /// How many segments a request with this key carried; `nil`: the key is no joined one's.
    static func count(ofKey key: String) -> Int? {
        guard let plus = key.lastIndex(of: "+"), let dash = key[plus...].firstIndex(of: "-"),
            let others = Int(key[key.index(after: plus)..<dash]), (1..<Room.mostSegments).contains(others)
        else { return nil }
        return others + 1
    }

    /// The same for a request that carries some lines of segments.
    static func key(_ segments: [SegmentFacts], _ slices: [RequestPart.Slice]) -> String {
        let keys = zip(segments, slices).map { segment, slice in
            segment.idempotencyKey + (slice.isWhole ? "" : ".\(slice.lines.lowerBound + 1)-\(slice.lines.upperBound)")
        }
        return keys.count == 1 ? keys[0] : key(keys)
    }

    /// The value of `Ferry-Segment` for it: each name with the lines, from 1.
    static func header(_ segments: [SegmentFacts], _ slices: [RequestPart.Slice]) -> String {
        zip(segments, slices).map { segment, slice in
            let name = segment.isForeign ? segment.name.percentEncodedForURL : segment.name
            return slice.isWhole ? name : "\(name);lines=\"\(slice.lines.lowerBound + 1)-\(slice.lines.upperBound)\""
        }.joined(separator: ", ")
    }
}
