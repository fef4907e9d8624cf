import FerrySpool
import FerryUpload
import Testing

@testable import ferry

@Suite("What a dry run says of segments that would not be sent")
struct NotSentSegmentsTests {
    @Test("Of segments that cannot be used for the same reason there is one line, with the first twenty names")
    func unusable() {
        var notSent = NotSentSegments()
        for number in 0..<30 { notSent.add("s\(number)", .unusable(FileError("take", "/spool/s\(number)", code: 1))) }
        #expect(notSent.lines.count == 1)
        #expect(notSent.lines[0].hasPrefix("30 segments not sent, cannot take it: Operation not permitted: s0, s1, "))
        #expect(notSent.lines[0].hasSuffix(", s19 and 10 more"))
    }
}
