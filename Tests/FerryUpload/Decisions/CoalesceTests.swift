import FerrySpool
import Testing

@testable import FerryUpload

@Suite("Which segments go out together")
struct CoalesceTests {
    @Test(
        "A policy is a word or a size",
        arguments: [
            ("off", CoalescePolicy.off), ("auto", .auto), ("1B", .upTo(ByteCount(1))), ("16MiB", .upTo(.mebibytes(16))),
            ("0", nil), ("16777217", nil), ("-1", nil), ("on", nil), ("", nil),
        ] as [(String, CoalescePolicy?)])
    func parses(text: String, policy: CoalescePolicy?) {
        #expect(CoalescePolicy(parsing: text) == policy)
    }

    @Test("By itself it joins what the destination takes, 1 MiB at most, and half of what was too large")
    func limits() {
        #expect(CoalescePolicy.auto.limit(accepted: nil, refused: nil) == nil)
        #expect(CoalescePolicy.auto.limit(accepted: .mebibytes(16), refused: nil) == .mebibytes(1))
        #expect(CoalescePolicy.auto.limit(accepted: ByteCount(5000), refused: nil) == ByteCount(5000))
        #expect(CoalescePolicy.auto.limit(accepted: .mebibytes(16), refused: ByteCount(9000)) == ByteCount(4500))
        #expect(CoalescePolicy.upTo(.mebibytes(2)).limit(accepted: nil, refused: ByteCount(9000)) == .mebibytes(2))
        #expect(CoalescePolicy.off.limit(accepted: .mebibytes(16), refused: nil) == nil)
    }

    @Test(
        "A request has the key that every version gives it: receivers remember it",
        arguments: [
            (["8f3k2m9qx7wd4t1c", "9f3k2m9qx7wd4t1c"], "8f3k2m9qx7wd4t1c+1-3156qbg1laias"),
            (["8f3k2m9qx7wd4t1c"], "8f3k2m9qx7wd4t1c+0-288gu4j9ez2mo"),
            (["8f3k2m9qx7wd4t1c.1-500", "9f3k2m9qx7wd4t1c", "c\u{e9}"], "8f3k2m9qx7wd4t1c.1-500+2-1fjwyadw27yq4"),
        ])
    func keys(ids: [String], key: String) {
        #expect(JoinedRequest.key(ids) == key)
    }

    @Test(
        "A key tells how many segments went out together",
        arguments: [
            ("8f3k2m9qx7wd4t1c+1-3156qbg1laias", 2), ("a+b+127-x", 128), ("a+128-x", nil), ("a+0-x", nil), ("a+-1-x", nil),
            ("a+-", nil), ("a+1", nil), ("a-1+", nil), ("a", nil), ("", nil), ("a+99999999999999999999-x", nil),
        ] as [(String, Int?)])
    func counts(key: String, count: Int?) {
        #expect(JoinedRequest.count(ofKey: key) == count)
    }
}
