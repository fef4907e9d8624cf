/// What a request carries, noted before it goes out. Where its process dies before the outcome is written down, the next one makes the same request,
/// under the same key: many servers know a request by that alone.
package struct RequestNote: Codable, Equatable, Sendable {
    /// The format's version.
    package var version = 1
    /// When the request was noted.
    package var at: Timestamp
    /// What it counts as among the notes of a segment, where the clock was set back; absent where that is ``at``.
    package var order: Timestamp?
    /// As its state file is named.
    package var destination: String
    /// The request's key, where it carries several segments.
    package var request: String?
    /// How many events it carries, where its segments go out in requests of a bounded size.
    package var requestEvents: Int64?
    /// The segments, or parts of them, that the request carries.
    package var segments: [Segment]

    /// A segment, or a part of one.
    package struct Segment: Codable, Equatable, Sendable {
        /// One of Ferry's: those of other tools go out alone.
        package var name: String
        /// What it is known again by (``Claim/contentMark()``), also where it was copied.
        package var content: String
        /// As many as its sidecar counts. With more of them, the outcome is written down.
        package var attempts: Int
        /// The request has its lines behind this one; absent where it has the file as it is.
        package var from: Int64?
        /// The last of its lines that the request has.
        package var to: Int64?
        /// `true` where they are the last of the file; absent otherwise.
        package var last: Bool?

        /// With the request it is delivered to its end.
        var ends: Bool { to == nil || last ?? false }

        /// Decodes a segment; throws `DecodingError` when a number or its name cannot be a segment's.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            content = try container.decode(String.self, forKey: .content)
            attempts = try container.decode(.attempts, in: 0...RetryState.most)
            from = try container.decodeIfPresent(.from, in: 0...RetryState.Delivered.most)
            to = try container.decodeIfPresent(.to, in: (from ?? 0)...RetryState.Delivered.most)
            last = try container.decodeIfPresent(Bool.self, forKey: .last)
            guard SegmentName(name) != nil, content.utf8.count <= Self.longestContent, (from == nil) == (to == nil) else {
                throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "it is no segment's")
            }
        }

        /// A number of 64 bits, a dash, and eight bytes in hexadecimal.
        private static let longestContent = 36
    }

    /// Creates a note.
    package init(
        at: Timestamp, order: Timestamp? = nil, destination: String, request: String?, requestEvents: Int64?, segments: [Segment]
    ) {
        self.at = at
        self.order = order
        self.destination = destination
        self.request = request
        self.requestEvents = requestEvents
        self.segments = segments
    }

    /// Decodes a note; throws `DecodingError` when it cannot be a request's.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        at = try container.decode(Timestamp.self, forKey: .at)
        order = try container.decodeIfPresent(Timestamp.self, forKey: .order)
        destination = try container.decode(String.self, forKey: .destination)
        request = try container.decodeIfPresent(String.self, forKey: .request)
        requestEvents = try container.decodeIfPresent(.requestEvents, in: 1...Int64.max)
        segments = try container.decode([Segment].self, forKey: .segments)
        let isKey = request.map { (1...Self.longestKey).contains($0.utf8.count) } ?? true
        guard isKey, (1...Self.mostSegments).contains(segments.count), Set(segments.map(\.name)).count == segments.count else {
            throw DecodingError.dataCorruptedError(forKey: .segments, in: container, debugDescription: "it is no request's")
        }
    }

    /// Later than that of any note that it follows.
    package var ordered: Timestamp { max(order ?? at, at) }

    /// A key is at most as long as a receiver takes it.
    private static let longestKey = 1024
    /// More are never claimed at once.
    private static let mostSegments = 1024

    /// A line behind a request's: the request that begins at this byte of the file has arrived.
    struct Arrived: Codable, Equatable {
        let arrived: Int64
    }

    /// A line behind a request's: what came of it is written down, and the file stays for others.
    struct Decided: Codable, Equatable {
        let decided: Int64
    }

    /// What a file of notes says.
    struct Content: Equatable {
        /// The oldest first.
        var notes: [RequestNote] = []
        /// Which of them have arrived.
        var arrived: Set<Int> = []
        /// Which of them have an outcome.
        var decided: Set<Int> = []
        /// It holds something else.
        var isDamaged = false

        /// Reads a file of notes. A last line that is not whole is of a request that was never made.
        init(_ bytes: [UInt8]) {
            var places: [Int64: Int] = [:]
            var others = 0
            var start = bytes.startIndex
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                bytes[start..<end].withUnsafeBufferPointer { line in
                    if line.starts(with: Self.arrivalStart) {
                        let place = JSONLine.decode(Arrived.self, line).flatMap { places[$0.arrived] }
                        if let place { arrived.insert(place) } else { others += 1 }
                    } else if line.starts(with: Self.decisionStart) {
                        let place = JSONLine.decode(Decided.self, line).flatMap { places[$0.decided] }
                        if let place { decided.insert(place) } else { others += 1 }
                    } else if let note = JSONLine.decode(RequestNote.self, line) {
                        places[Int64(start)] = notes.count
                        notes.append(note)
                    } else {
                        others += 1
                    }
                }
                // A file of another tool, which may have many short ones.
                if others > Self.mostOthers { break }
                start = end + 1
            }
            // What a power cut leaves of a file that was never forced to the disk.
            isDamaged = isDamaged || others > 0 || bytes.contains(0)
        }

        private static let arrivalStart = Array("{\"arrived\":".utf8)
        private static let decisionStart = Array("{\"decided\":".utf8)
        private static let mostOthers = 100

        /// The places of requests without an outcome.
        var openPlaces: [Int] { notes.indices.filter { !decided.contains($0) } }
    }
}

extension RequestNote.Segment {
    /// Returns whether nothing tells what came of the request for a segment.
    ///
    /// - Parameters:
    ///   - sidecar: As it is now.
    ///   - content: What the file is known by that has the segment's name now.
    func isUndecided(to destination: String, _ sidecar: RetryState?, content: String) -> Bool {
        guard self.content == content, sidecar?.attempts ?? 0 == attempts else { return false }
        let delivered = sidecar?.delivered.flatMap { $0.destination == destination && $0.content == content ? $0.lines : nil }
        return from == nil || delivered ?? 0 == from
    }
}
