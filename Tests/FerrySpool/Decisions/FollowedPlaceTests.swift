import Testing

@testable import FerrySpool

@Suite("How far a log is followed")
struct FollowedPlaceTests {
    private var file: FollowedFile {
        var bytes = FollowedBytes(inode: 7)
        Array(repeating: UInt8(ascii: "a"), count: 600).withUnsafeBytes { bytes.add($0) }
        bytes.advance(to: 600)
        return bytes.file
    }

    @Test("A journal that is longer than noted has lines behind the place; a shorter one only those from its start")
    func resuming() {
        var place = FollowedPlace(FollowedFile(inode: 1, offset: 100))
        #expect(place.resuming(journal: 50) == (100, 0))
        place.segment = "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
        (place.file.offset, place.length) = (300, 150)
        #expect(place.resuming(journal: 150) == (300, 0))
        #expect(place.resuming(journal: 170) == (300, 20))
        #expect(place.resuming(journal: 140) == (100, 140))
        #expect(place.resuming(journal: nil) == (300, 0))
    }

    @Test("A place is read as it was written")
    func text() {
        var place = FollowedPlace(file)
        #expect(place.numbers.count == 57)
        #expect(FollowedPlace(text: place.text(path: "/var/log/\"app\".log")) == place)
        place.segment = "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
        place.known = [FollowedFile(inode: 3, offset: 9, tail: nil), file]
        (place.length, place.log, place.hasOlder) = (3, 9, true)
        #expect(FollowedPlace(text: place.text(path: "x")) == place)
        var empty = FollowedPlace(FollowedFile(inode: 1))
        (empty.carried, empty.ahead) = ([0, 255], file)
        #expect(FollowedPlace(text: empty.text(path: "x")) == empty)
        place.file.tail = nil
        #expect(FollowedPlace(text: place.text(path: "x")) == place)
    }

    @Test("The first line is overwritten with another offset")
    func numbers() {
        var place = FollowedPlace(file)
        let text = place.text(path: "x")
        (place.file.offset, place.length, place.file.tail) = (700, 20, 5)
        let read = FollowedPlace(text: place.numbers + text.dropFirst(place.numbers.count))
        #expect(read?.file.offset == 700)
        #expect(read?.start == 600)
        #expect(read?.file.tail == 5)
    }

    @Test("What is no place is none")
    func flaws() {
        let text = String(decoding: FollowedPlace(file).text(path: "x"), as: UTF8.self)
        func isPlace(_ text: String) -> Bool { FollowedPlace(text: Array(text.utf8)) != nil }
        #expect(isPlace(text))
        #expect(!isPlace(""))
        #expect(!isPlace(String(text.dropLast(2))))
        #expect(!isPlace(text.replacing("\"version\":1", with: "\"version\":2")))
        #expect(!isPlace(text.replacing("\"start\":600", with: "\"start\":601")))
        #expect(!isPlace(text.replacing("\"marks\":\"", with: "\"marks\":\"0")))
        #expect(!isPlace("-" + text.dropFirst()))
        // Less than what it is known by.
        #expect(!isPlace("0000000000000000010" + text.dropFirst(19)))
    }

    @Test("Files that are gone are forgotten before others, and that older ones were there is not")
    func limit() {
        var place = FollowedPlace(file)
        place.known = (0..<130).map { FollowedFile(inode: UInt64($0), offset: 1) }
        place.limit { $0.inode != 5 && $0.inode != 6 }
        #expect(place.known.count == 128)
        #expect(!place.hasOlder)
        place.known.append(file)
        place.limit { _ in true }
        #expect(place.known.first?.inode == 1)
        #expect(place.hasOlder)
    }
}
