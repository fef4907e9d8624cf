import NIOCore
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Requests of a bounded size, whatever the segments' sizes")
struct RequestPartsTests {
    private let folder = TemporaryFolder()

    private func source(_ lines: some Sequence<Int>, from line: Int64 = 0, blankEnd: Bool = false) throws -> RequestParts.Source {
        let file = try OpenFile.inMemory()
        try file.write(Segments.gzip(lines.map { "{\"n\":\($0)}\n" }.joined() + (blankEnd ? "\n \n" : "")))
        return .init(file: file, origin: .init(created: .distantPast), line: line)
    }

    private func all(_ parts: RequestParts) throws -> [(part: RequestPart, numbers: [Int])] {
        var found: [(part: RequestPart, numbers: [Int])] = []
        while let part = try parts.next(at: .now()) {
            guard case .bytes(let buffer) = part.body else { throw InVain(what: "bytes") }
            found.append((part, try numbers(in: Array(buffer.readableBytesView))))
        }
        return found
    }

    private func parts(_ sources: [RequestParts.Source], _ limits: RequestLimits) -> RequestParts {
        RequestParts(sources, as: .jsonArray, limits: limits, inflateLimit: .mebibytes(64))
    }

    @Test("Small segments are joined, large ones cut: each request but the last is full, and every event is in one, in order")
    func joinsAndCuts() throws {
        var random = Seeded(seed: 11)
        for _ in 0..<50 {
            let limit = Int64.random(in: 1...30, using: &random)
            var count = 0
            let sources = try (0..<Int.random(in: 1...12, using: &random)).map { _ in
                let size = Int.random(in: 0...70, using: &random)
                defer { count += size }
                return try source(count..<count + size, blankEnd: .random(using: &random))
            }
            let made = try all(parts(sources, RequestLimits(events: limit)))
            #expect(made.flatMap(\.numbers) == Array(0..<count))
            #expect(made.dropLast().allSatisfy { $0.part.events == limit })
            #expect((made.last?.part.events ?? 0) <= limit)
            // Each segment ends once, in its order.
            #expect(made.flatMap { $0.part.slices.filter(\.isLast).map(\.segment) } == Array(sources.indices))
            // What is noted of each is how many lines of it have gone out.
            for segment in sources.indices {
                let slices = made.flatMap { $0.part.slices.filter { $0.segment == segment } }
                #expect(slices.first?.lines.lowerBound == 0)
                #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.lines.upperBound == $1.lines.lowerBound })
            }
        }
    }

    @Test("A segment goes on behind the lines that were delivered")
    func goesOn() throws {
        let made = try all(parts([source(0..<10, from: 7), source(10..<12)], RequestLimits(events: 4)))
        #expect(made.map(\.numbers) == [[7, 8, 9, 10], [11]])
        #expect(made[0].part.slices[0] == .init(segment: 0, lines: 7..<10, events: 3, isLast: true))
    }

    @Test("Bytes are bounded, too; an event that is larger by itself goes out alone")
    func bytes() throws {
        let file = try OpenFile.inMemory()
        let long = "{\"n\":5,\"t\":\"\(String(repeating: "x", count: 400))\"}\n"
        try file.write(Segments.gzip(Segments.lines(0..<5) + long + Segments.lines(6..<20)))
        let parts = parts([.init(file: file, origin: .init(created: .distantPast))], RequestLimits(bytes: ByteCount(100)))
        var sizes: [Int64] = []
        while let part = try parts.next(at: .now()) {
            guard case .bytes(let buffer) = part.body else { throw InVain(what: "bytes") }
            let body = try OpenFile.inMemory()
            try body.write(Array(buffer.readableBytesView))
            var size: Int64 = 0
            try body.inflate(limit: .mebibytes(1)) { size += Int64($0.count) }
            sizes.append(size)
            #expect(size <= 100 || part.events == 1)
        }
        #expect(sizes.count { $0 > 100 } == 1)
    }

    @Test("A request that bytes limit carries the same events whenever it is made")
    func sameLater() throws {
        let file = try OpenFile.inMemory()
        let created = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
        let event = #"{"name":"e","time":"2026-11-21T03:00:00Z","device":{"id":"a"}}"# + "\n"
        try file.write(Segments.gzip(String(repeating: event, count: 40)))
        let cuts = try [Duration.milliseconds(1), .seconds(10), .seconds(90_000), .seconds(86_400 * 400)].map { age in
            let parts = RequestParts(
                [.init(file: file, origin: .init(created: created))], as: .measurement(trackingID: "UA-1-1"),
                limits: RequestLimits(bytes: ByteCount(654)),
                inflateLimit: .mebibytes(1))
            var cut: [Int64] = []
            while let part = try parts.next(at: created + age) { cut.append(part.events) }
            return cut
        }
        #expect(Set(cuts).count == 1, "\(cuts)")
        #expect(cuts[0].count > 2)
    }

    @Test("A sidecar that says more lines than a segment has is another segment's: everything is sent")
    func beyondTheEnd() throws {
        let made = try all(parts([source(0..<10, from: 11), source(10..<12)], RequestLimits(events: 8)))
        #expect(made.map(\.numbers) == [Array(0..<8), [8, 9, 10, 11]])
        #expect(made[0].part.slices == [.init(segment: 0, lines: 0..<8, events: 8)])
    }

    @Test("A part has the key of its events, whatever blank lines stand before it and whoever makes it")
    func blankLines() throws {
        let file = try OpenFile.inMemory()
        try file.write(Segments.gzip((0..<6).map { "{\"n\":\($0)}\n\n" }.joined()))
        let whole = try all(parts([.init(file: file, origin: .init(created: .distantPast))], RequestLimits(events: 2)))
        let noted = whole[0].part.slices[0].lines.upperBound
        let rest = try all(
            parts([.init(file: file, origin: .init(created: .distantPast), line: noted)], RequestLimits(events: 2)))
        #expect(rest.map(\.part.slices) == whole.dropFirst().map(\.part.slices))
        #expect(rest.map(\.numbers) == [[2, 3], [4, 5]])
    }
}
