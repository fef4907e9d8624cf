import FerrySpool

/// Several small segments in one request: their gzip members follow one another, nothing is compressed again.
enum Coalescing {
    /// What a joined request still has room for.
    struct Room {
        private let priority: Priority
        private let stream: String?
        private var bytes: ByteCount
        private var segments: Int
        private var header: Int

        /// Servers take header lines of 8 KiB (nginx, Apache); a name with its size has 60 to 130 bytes.
        static let longestHeader = 7900
        /// All of them are claimed, and so open, at once.
        static let mostSegments = 128

        /// - Parameter limit: The most bytes of a request.
        /// - Returns: `nil` when nothing may join the first segment: it comes from another tool, failed before, or is large itself.
        init?(limit: ByteCount, first: Dispatcher.Item) {
            guard let name = SegmentName(first.name), !first.entry.hasSidecar, let size = first.entry.size, size < limit else {
                return nil
            }
            priority = name.priority
            stream = name.stream
            bytes = limit - size
            segments = Self.mostSegments - 1
            header = Self.longestHeader - first.name.utf8.count - Self.decoration
        }

        /// `, ` and `;bytes=` with a number.
        private static let decoration = 20

        /// Takes a segment in if there is room for it, and it is of the same kind.
        mutating func take(_ entry: SpoolListing.Entry, _ name: String) -> Bool {
            let length = name.utf8.count + Self.decoration
            guard segments > 0, length <= header, let size = entry.size, size <= bytes, !entry.hasSidecar,
                entry.priority == priority, let segment = SegmentName(name), segment.stream == stream
            else { return false }
            segments -= 1
            header -= length
            bytes = bytes - size
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
    static func key(_ segments: [SegmentFacts]) -> String {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for segment in segments {
            for byte in segment.id.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return "\(segments[0].id)+\(segments.count - 1)-\(String(sum, radix: 36))"
    }
}
