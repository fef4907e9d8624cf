import Testing

@testable import FerrySpool

@Suite("Which files of a log are known, by their bytes")
struct FollowMatchTests {
    /// A file in memory.
    private struct File {
        var inode: UInt64
        var bytes: [UInt8]

        /// Lines that differ.
        init(_ inode: UInt64, _ lines: Range<Int>) { self.init(inode, lines.map { "{\"n\":\($0)}\n" }.joined()) }

        init(_ inode: UInt64, _ text: String) { (self.inode, bytes) = (inode, Array(text.utf8)) }

        /// What is known of it when it is read up to an offset.
        func known(_ offset: Int? = nil) -> FollowedFile {
            var known = FollowedBytes(inode: inode)
            bytes.withUnsafeBytes { known.add($0) }
            known.advance(to: Int64(offset ?? bytes.count))
            return known.file
        }

        func sight(_ positions: [Int64]) -> FileSight {
            let size = Int64(bytes.count)
            var windows: [Int64: UInt64] = [:]
            for position in positions + [size] where position <= size {
                windows[position] = FollowedFile.window(bytes[..<Int(position)].suffix(FollowedFile.longestWindow))
            }
            return FileSight(inode: inode, size: size, head: Array(bytes.prefix(FollowedFile.longestHead)), windows: windows)
        }
    }

    /// - Parameter known: The first is the one that was read last.
    private func match(_ known: [FollowedFile], log: File?, was inode: UInt64?, _ rotated: [File]) -> FollowMatch {
        let positions =
            known.flatMap(\.comparedPositions) + FollowedFile.markPositions(upTo: 1 << 20)
            + (rotated + [log].compactMap(\.self)).map { Int64($0.bytes.count) }
        return FollowMatch(
            known, log: log?.sight(positions), isSameLog: log != nil && log?.inode == inode,
            rotated: rotated.map { .sight($0.sight(positions)) })
    }

    @Test("A renamed file is known by its number and bytes, and what came after it is new")
    func renamed() {
        let read = File(1, 0..<50)
        let found = match(
            [read.known(80), File(7, 900..<950).known()], log: File(3, 60..<61), was: 1,
            [File(7, 900..<950), read, File(2, 50..<60)])
        #expect(found.rotated == [.known(1), .known(0), .new])
        #expect(found.log == .new)
        #expect(!found.isCopying)
    }

    @Test("A number proves nothing: it may be another file's by now")
    func number() {
        let found = match([File(1, 0..<50).known(80)], log: File(1, 500..<560), was: nil, [])
        #expect(found.log == .new)
    }

    @Test("A log with another number and the same bytes goes on; one with another line does not")
    func replaced() {
        let read = File(1, 0..<50)
        #expect(match([read.known(80)], log: File(9, 0..<50), was: 1, []).log == .known(0))
        #expect(match([read.known()], log: File(9, 0..<60), was: 1, []).log == .known(0))
        let other = File(9, String(decoding: read.bytes, as: UTF8.self).replacingOccurrence(of: "{\"n\":7}", with: "{\"n\":8}"))
        #expect(match([read.known()], log: other, was: 1, []).log == .new)
    }

    @Test("A log that was emptied goes on in its copy, which may have less than was read", arguments: [20, 400])
    func copied(lines: Int) {
        let read = File(1, 0..<lines)
        let longer = match([read.known()], log: File(1, 1000..<1001), was: 1, [File(2, 0..<(lines + 5))])
        #expect(longer.rotated == [.known(0)])
        #expect(longer.log == .new)
        #expect(longer.isCopying)
        #expect(match([read.known()], log: File(1, 1000..<1001), was: 1, [File(2, 0..<(lines - 5))]).rotated == [.start(of: 0)])
        // Not the same log: it is another file.
        #expect(match([read.known()], log: File(3, 1000..<1001), was: 1, [File(2, 0..<(lines - 5))]).rotated == [.new])
    }

    @Test("A copy of a log that is not emptied yet is left alone, also while it is being made")
    func copying() {
        let read = File(1, 0..<50)
        for lines in [1, 30, 50] { #expect(match([read.known()], log: read, was: 1, [File(2, 0..<lines)]).rotated == [.copy]) }
        #expect(match([read.known(8)], log: read, was: 1, [File(2, 0..<30)]).rotated == [.copy])
        #expect(match([File(1, "").known()], log: read, was: 1, [File(2, 0..<30)]).rotated == [.copy])
    }

    @Test("Of a log of which nothing was read, what came beside it is new")
    func nothingRead() {
        let found = match([File(1, "").known()], log: File(1, ""), was: 1, [File(2, 0..<3)])
        #expect(found.rotated == [.new])
        #expect(found.isCopying)
    }

    @Test("Files that begin alike are told by what follows, or by their number")
    func alike() {
        let header = String(repeating: "h", count: 3000) + "\n"
        let first = File(1, header + "one\n")
        let found = match([first.known()], log: File(3, header + "three\n"), was: 1, [first, File(2, header + "two\n")])
        #expect(found.rotated == [.known(0), .new])
        #expect(found.log == .new)
        // The older one with the same line is known already: it is no copy of the log.
        let boot = "{\"boot\":1}\n"
        let older = match(
            [File(1, boot).known(), File(5, boot + "more\n").known()], log: File(1, ""), was: 1, [File(5, boot + "more\n")])
        #expect(older.rotated == [.known(1)])
        // A line that each start writes does not make a new file one that is gone.
        #expect(
            match([File(4, "x\n").known(), File(5, boot).known()], log: nil, was: 1, [File(6, boot + "new\n")]).rotated == [.new])
    }

    @Test("Late lines in a file that was left are behind its place")
    func late() {
        let found = match([File(2, 50..<60).known(), File(1, 0..<50).known()], log: File(2, 50..<60), was: 2, [File(1, 0..<51)])
        #expect(found.rotated == [.known(1)])
    }

    @Test("Two copies of one file are one; two files that begin alike are two")
    func twice() {
        let read = File(1, 0..<50)
        let copies = match([read.known(80)], log: File(1, ""), was: 1, [File(2, 0..<20), File(3, 0..<60)])
        #expect(copies.rotated == [.start(of: 0), .known(0)])
        let files = match([read.known(80)], log: File(1, ""), was: 1, [File(2, 0..<20), File(3, "\(text(0..<10))other\n")])
        #expect(files.rotated == [.known(0), .new])
    }

    @Test("A copy beside a file that was renamed is new, and doubtful")
    func doubtful() {
        let read = File(1, 0..<50)
        for lines in [30, 50] {
            let found = match([read.known()], log: File(3, 60..<61), was: 1, [File(2, 0..<lines), read])
            #expect(found.rotated == [.new, .known(0)])
            #expect(found.doubtful == [0])
        }
        #expect(match([read.known()], log: File(3, 60..<61), was: 1, [File(2, 1..<30), read]).doubtful == [])
    }

    private func text(_ lines: Range<Int>) -> String { String(decoding: File(0, lines).bytes, as: UTF8.self) }

    @Test("A log that a power cut made shorter goes on at its end")
    func cut() {
        #expect(match([File(1, 0..<500).known()], log: File(1, 0..<400), was: 1, []).log == .start(of: 0))
        #expect(match([File(1, 0..<500).known()], log: File(1, 0..<3), was: 1, []).log == .new)
    }

    @Test("What is known is the same, however a file is read", arguments: [1, 7, 4096, 100_000])
    func pieces(size: Int) {
        let file = File(1, 0..<8000)
        var known = FollowedBytes(inode: 1)
        var rest = file.bytes[...]
        while !rest.isEmpty {
            Array(rest.prefix(size)).withUnsafeBytes { known.add($0) }
            if size > 1000 || rest.count % 50 == 0 { known.advance(to: known.end) }
            rest = rest.dropFirst(size)
        }
        known.advance(to: known.end)
        #expect(known.file == file.known())
        #expect(known.file.isHeld(by: file.sight(known.file.comparedPositions)))
        for offset in [0, 1, 256, 300, 4096, 50_000, file.bytes.count] {
            let within = FollowedBytes(inode: 1, at: Int64(offset)) { (count, end) throws(Never) in
                Array(file.bytes[(Int(end) - count)..<Int(end)])
            }
            #expect(within.file == file.known(offset))
        }
    }

    @Test("A compressed copy that has only a part of a line is known again")
    func part() {
        let part = File(1, "{\"n\":2")
        var sight = part.sight([])
        (sight.inode, sight.isCompressed) = (9, true)
        let known = [File(3, 3..<6).known(), part.known()]
        let match = FollowMatch(known, log: nil, isSameLog: false, rotated: [.sight(sight)])
        #expect(match.rotated == [.known(1)])
    }
}

extension String {
    fileprivate func replacingOccurrence(of text: String, with other: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }
}
