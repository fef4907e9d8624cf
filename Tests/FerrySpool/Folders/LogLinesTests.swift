import TestSupport
import Testing

@testable import FerrySpool

@Suite("Lines of a log")
struct LogLinesTests {
    /// The longest line that comes in one piece.
    private static let longest = (1 << 20) - 1

    private let folder = TemporaryFolder()

    private func log(_ text: String) throws -> OpenFile {
        let file = try Directory.open(folder.path).create("log")
        try file.write(Array(text.utf8))
        return file
    }

    private func lines(of text: String, from start: Int64 = 0) throws -> [String] {
        let file = try log(text)
        var lines: [String] = []
        try file.forEachLine(from: start) { lines.append(String(decoding: $0, as: UTF8.self)) }
        return lines
    }

    private func placedLines(of text: String, before end: Int64 = .max) throws -> (places: [Int64], end: Int64) {
        let file = try log(text)
        var places: [Int64] = []
        let reached = try file.forEachPlacedLine(before: end) { _, place in places.append(place) }
        return (places, reached)
    }

    @Test("Lines come without their line feeds, empty ones too, and a last one without its end")
    func readsLines() throws {
        #expect(try lines(of: "one\n\nthree\nfour") == ["one", "", "three", "four"])
    }

    @Test("Lines come from an offset on")
    func readsFromOffset() throws {
        #expect(try lines(of: "one\ntwo\n", from: 4) == ["two"])
    }

    @Test("A line that is longer than 1 MiB comes in pieces")
    func cutsLongLines() throws {
        let long = String(repeating: "x", count: 3 << 20)
        #expect(try lines(of: "\(long)\nshort\n").joined() == long + "short")
    }

    @Test("Lines that fill what is read at a time come whole", arguments: [-1, 0])
    func readsFittingLines(more: Int) throws {
        let long = String(repeating: "x", count: Self.longest + more)
        #expect(try lines(of: "\(long)\n\(long)\nend\n").map(\.utf8.count) == [long.utf8.count, long.utf8.count, 3])
    }

    @Test("Each line comes with its place, and the next one begins at the end of the last whole one")
    func tellsPlaces() throws {
        let found = try placedLines(of: "one\n\nthree\nfour")
        #expect(found.places == [0, 4, 5, 11])
        #expect(found.end == 11)
    }

    @Test("No line is read that begins at the end that was asked for")
    func stopsAtEnd() throws {
        let found = try placedLines(of: "one\ntwo\nthree\n", before: 4)
        #expect(found.places == [0])
        #expect(found.end == 4)
    }

    @Test("A line that is too long is passed over, and those behind it have their places")
    func passesLongLinesOver() throws {
        let long = Int64(3 << 20)
        let found = try placedLines(of: "a\n\(String(repeating: "x", count: Int(long)))\nb\n")
        #expect(found.places == [0, 2 + long + 1])
        #expect(found.end == 2 + long + 3)
    }

    @Test("A line that is too long and has no end is passed over")
    func passesTornLongLineOver() throws {
        let found = try placedLines(of: "a\n\(String(repeating: "x", count: 3 << 19))")
        #expect(found.places == [0])
        #expect(found.end == 2)
    }
}
