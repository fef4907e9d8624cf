import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What an answer means")
struct VerdictTests {
    enum Class { case delivered, unavailable, doubtful, circling, misconfigured, tooLarge, refused, moved }

    @Test(
        "Every status of the delivery table has its meaning",
        arguments: [
            (200, .delivered), (201, .delivered), (202, .delivered), (204, .delivered), (207, .delivered), (429, .unavailable),
            (507, .unavailable),
            (408, .doubtful), (409, .doubtful), (425, .doubtful), (500, .doubtful), (502, .doubtful), (503, .doubtful),
            (508, .circling), (599, .doubtful), (401, .misconfigured), (403, .misconfigured),
            (407, .misconfigured),
            (404, .misconfigured), (405, .misconfigured), (410, .misconfigured), (301, .misconfigured), (302, .misconfigured),
            (303, .misconfigured), (304, .misconfigured), (413, .tooLarge), (400, .refused), (411, .refused), (415, .refused),
            (422, .refused), (418, .refused), (402, .misconfigured), (406, .misconfigured), (417, .misconfigured),
            (421, .misconfigured),
            (426, .misconfigured), (428, .misconfigured), (451, .misconfigured), (414, .doubtful), (423, .doubtful),
            (431, .doubtful), (307, .moved), (308, .moved), (101, .doubtful),
        ] as [(Int, Class)])
    func statuses(status: Int, meaning: Class) {
        #expect(classify(Verdict(status: status, retryAfter: nil, location: "/x", body: "")) == meaning)
        // Before the body has gone out, no answer means that it arrived.
        let early = Verdict(status: status, retryAfter: nil, location: "/x", body: "", isToWholeRequest: false)
        #expect(classify(early) == (meaning == .delivered ? .doubtful : meaning))
    }

    @Test("Anything retryable with Retry-After says that the destination is unavailable", arguments: [408, 429, 500, 503])
    func retryAfter(status: Int) {
        guard case .unavailable(_, .seconds(7)) = Verdict(status: status, retryAfter: .seconds(7), location: nil, body: "") else {
            Issue.record("not unavailable")
            return
        }
    }

    @Test("A 400 by which nginx complains about TLS is a misconfiguration, not the segment's fault")
    func complaintAboutTLS() {
        let body = "<html><head><title>400 No required SSL certificate was sent</title></head></html>"
        let verdict = Verdict(status: 400, retryAfter: nil, location: nil, body: body)
        #expect(classify(verdict) == .misconfigured)
        #expect(verdict.reason?.message.hasPrefix("HTTP 400: 400 No required SSL certificate was sent; check --cert") == true)
    }

    @Test(
        "200 with a web page is no delivery, as of a network that wants a login; a word that is called HTML is one, and so is 201"
    )
    func webPage() {
        func classify(_ status: Int, _ type: String?, _ body: String) -> Class? {
            self.classify(Verdict(status: status, retryAfter: nil, location: nil, body: body, contentType: type))
        }
        let page = "\n<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head><title>Log in</title></head></html>"
        #expect(classify(200, "text/html; charset=utf-8", page) == .unavailable)
        #expect(classify(200, "Text/HTML", "<HTML>Please log in") == .unavailable)
        #expect(classify(201, "text/html", page) == .delivered)
        #expect(classify(200, "text/html", "ok") == .delivered)
        #expect(classify(200, "text/html", "") == .delivered)
        #expect(classify(200, "text/plain", page) == .delivered)
        #expect(classify(200, nil, page) == .unavailable)
        #expect(classify(200, nil, "<p>stored</p>") == .delivered)
        #expect(classify(200, "text/html", "<result>ok</result>") == .delivered)
        for text in [
            "\u{feff}<!doctype html>", "<!-- a -->\n<html>", "<?xml version=\"1.0\"?><html>", "<!DOCTYPE\nhtml>", "<head><title>",
            "<meta http-equiv=refresh content=0>", "<script>location.href='/'</script>", "<BODY onload=x>",
            "\u{fffd}\u{fffd}<\0!\0d\0o\0c\0", "\u{1f}\u{fffd}\u{8}", String(repeating: " ", count: 3000) + "<html>",
        ] {
            #expect(classify(200, "text/html", text) == .unavailable, "\(text.prefix(40))")
        }
        #expect(classify(200, "application/xhtml+xml", "<html>") == .unavailable)
        #expect(classify(202, "text/html", page) == .unavailable)
        let reason = Verdict(status: 200, retryAfter: nil, location: nil, body: page, contentType: "text/html").reason
        #expect(reason?.message.hasPrefix("HTTP 200: Log in; a web page is no delivery") == true)
    }

    @Test("Nothing of an answer that a terminal obeys, or a service manager reads as another line, gets into a message")
    func messageIsHarmless() throws {
        let body = "<title>down\nMAINPID=1\u{1b}]0;x\u{7}\u{202e}" + String(repeating: "e\u{301}", count: 4000) + "</title>"
        for status in [400, 429, 503] {
            let message = try #require(Verdict(status: status, retryAfter: nil, location: nil, body: body).reason?.message)
            #expect(message.hasPrefix("HTTP \(status): down\\nMAINPID=1\\u001b]0;x\\u0007\\u202e"))
            #expect(message.unicodeScalars.count < 300)
        }
        #expect(Verdict(.tls("\u{1b}c")).reason?.message == "\\u001bc")
        #expect(Verdict(.proxy(status: nil, "a\nb")).reason?.message == "a\\nb")
    }

    @Test("A redirect without Location is a misconfiguration")
    func noLocation() {
        #expect(classify(Verdict(status: 307, retryAfter: nil, location: nil, body: "")) == .misconfigured)
    }

    @Test(
        "Retry-After is read as seconds or as a date, never as more than a day",
        arguments: [
            ("120", .seconds(120)), ("0", .seconds(0)), ("99999999999", .seconds(86_400)),
            ("99999999999999999999999", .seconds(86_400)), ("+5", nil), ("5s", nil), ("\u{0663}", nil), ("-5", nil),
            ("soon", nil), ("", nil),
            ("60 ", .seconds(60)), ("\t 60\t", .seconds(60)), ("6 0", nil), ("Sat, 21 Nov 2026 12:01:00 GMT ", .seconds(60)),
            ("Sat, 21 Nov 2026 12:01:00 GMT", .seconds(60)), ("Sat, 21 Nov 2026 11:00:00 GMT", .zero),
            ("Fri, 21 Nov 2036 12:00:00 GMT", .seconds(86_400)), ("Sat, 31 Feb 2026 12:01:00 GMT", nil),
        ] as [(String, Duration?)])
    func retryAfterValues(value: String, wait: Duration?) {
        #expect(RetryAfter.parse(value, now: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!) == wait)
    }

    @Test("A date is counted from the server's own clock")
    func retryAfterServerDate() {
        let wait = RetryAfter.parse(
            "Sat, 21 Nov 2026 12:01:00 GMT", now: Timestamp(rfc3339: "1970-01-01T00:00:00Z")!,
            serverDate: "Sat, 21 Nov 2026 12:00:30 GMT")
        #expect(wait == .seconds(30))
    }

    @Test("Failures without an answer have their meaning")
    func failures() {
        #expect(classify(Verdict(.connect("refused"))) == .unavailable)
        #expect(classify(Verdict(.proxy(status: 407, "p"))) == .misconfigured)
        #expect(classify(Verdict(.proxy(status: 502, "p"))) == .unavailable)
        #expect(classify(Verdict(.tls("bad"))) == .misconfigured)
        #expect(classify(Verdict(.closed("x", isStale: false))) == .doubtful)
        #expect(classify(Verdict(.garbage("x"))) == .doubtful)
        #expect(classify(Verdict(.timeout("x"))) == .doubtful)
        #expect(classify(Verdict(.cancelled)) == nil)
        #expect(classify(Verdict(.fileChanged)) == nil)
    }

    private func classify(_ verdict: Verdict) -> Class? {
        switch verdict {
        case .delivered: .delivered
        case .unavailable: .unavailable
        case .doubtful: .doubtful
        case .circling: .circling
        case .misconfigured: .misconfigured
        case .tooLarge: .tooLarge
        case .refused: .refused
        case .moved: .moved
        case .brokenOff, .withdrawn: nil
        }
    }
}

@Suite("Back-off")
struct BackOffTests {
    @Test("Without intervals those of the default hold, after any number of failures")
    func noIntervals() {
        var generator = SystemRandomNumberGenerator()
        let none = BackOff(intervals: [], jitter: 1...1, failuresAllowed: .max)
        #expect(none.wait(afterFailures: 1, using: &generator) == .seconds(10))
        #expect(none.wait(afterFailures: .max, using: &generator) == .seconds(3600))
        #expect(none.longestWait == BackOff.standard.longestWait)
    }

    @Test("Waits grow by the intervals, times 0.5 to 1, and stay at the last")
    func waits() {
        var generator = Seeded(seed: 5)
        for (failures, seconds) in [(1, 10.0), (2, 60), (3, 300), (4, 1200), (5, 3600), (6, 3600), (1000, 3600)] {
            for _ in 0..<200 {
                let wait = BackOff.standard.wait(afterFailures: failures, using: &generator).inSeconds
                #expect(wait >= seconds * 0.5 - 0.001)
                #expect(wait <= seconds + 0.001)
            }
        }
    }

    @Test("A chance that was drawn before gives each wait of the jitter's range", arguments: [(0, 30.0), (0.5, 45), (1, 60)])
    func chance(_ chance: Double, seconds: Double) {
        #expect(BackOff.standard.wait(afterFailures: 2, chance: chance).inSeconds == seconds)
    }

    @Test(
        "A wait that is further away than any back-off, or whose attempt lies ahead, shows a clock that was set back: it is due")
    func clockSetBack() {
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        func state(_ next: Timestamp, last: Timestamp? = nil) -> RetryState {
            RetryState(
                attempts: 1, failures: 0, firstAttemptAt: now, lastAttemptAt: last ?? now, nextAttemptAt: next,
                lastError: .init(scope: .segment, kind: "status", message: ""))
        }
        let longest = BackOff.standard.longestWait
        #expect(state(now + .seconds(60)).wait(at: now, longestWait: longest) == now + .seconds(60))
        #expect(state(now).wait(at: now, longestWait: longest) == nil)
        #expect(state(now + longest + .seconds(1)).wait(at: now, longestWait: longest) == nil)
        let hours = now + .seconds(5 * 3600)
        #expect(state(hours + .seconds(10), last: hours).wait(at: now, longestWait: longest) == nil)
        #expect(state(now + .seconds(20), last: now + .seconds(10)).wait(at: now, longestWait: longest) == now + .seconds(20))
    }
}

@Suite("Files from other tools")
struct ForeignFileTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    @Test("Left alone for 5 s, sent when whole, given up after 10 min, never judged by a clock that was set back")
    func readiness() {
        func after(_ seconds: Int, whole: Bool) -> ForeignFile.Readiness {
            ForeignFile.readiness(changed: now - .seconds(seconds), isWhole: whole, now: now)
        }
        #expect(after(4, whole: true) == .settling(until: now + .seconds(1)))
        #expect(after(5, whole: true) == .ready)
        #expect(after(599, whole: false) != .givenUp)
        #expect(after(600, whole: false) == .givenUp)
        #expect(after(-86_400, whole: true) == .ready)
        #expect(after(-86_400, whole: false) != .givenUp)
    }

    @Test("A sound file without notes leaves at once when its times show that it was named last, else after 5 s without a change")
    func withoutNotes() {
        func until(_ seconds: Int, finished: Bool) -> Timestamp? {
            ForeignFile.mayGrow(isFinished: finished, changed: now - .seconds(seconds), now: now)
        }
        #expect(until(0, finished: true) == nil)
        #expect(until(0, finished: false) == now + .seconds(5))
        #expect(until(4, finished: false) == now + .seconds(1))
        #expect(until(5, finished: false) == nil)
        #expect(until(-86_400, finished: false) == nil)
    }
}

@Suite("Keys")
struct SegmentKeyTests {
    private func key(_ name: String, _ digit: Character = "0") throws -> String {
        try SegmentKey.key(of: name, spoolID: "abcdefghijklmnop") { () throws(FileError) in
            guard let digest = BodyDigest(hexadecimal: String(repeating: digit, count: 64)) else {
                throw FileError("read", name, code: 0)
            }
            return digest
        }
    }

    @Test("A name of the format has its ID for a key, whatever the content")
    func own() throws {
        #expect(try key("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz") == "8f3k2m9qx7wd4t1c")
    }

    @Test("Another name's key says name, spool and content")
    func foreign() throws {
        #expect(try key("a b.jsonl.gz") == "a%20b.jsonl.gz~abcdefghijklmnop~\(String(repeating: "0", count: 64))")
        #expect(try key("a.jsonl.gz", "0") != key("a.jsonl.gz", "1"))
        #expect(try key("a.jsonl.gz") != key("b.jsonl.gz"))
    }

    @Test("A key is bounded, is cut at no letter's middle, and still tells long names apart")
    func bounded() throws {
        let start = String(repeating: "\u{fc}", count: 60)
        let keys = try ["1", "2"].map { try key("\(start)\($0).jsonl.gz") }
        #expect(keys[0] != keys[1])
        for key in keys {
            #expect(key.utf8.count <= 210)
            #expect(key.prefix { $0 != "~" }.count % 3 == 0)
        }
    }

    @Test(
        "Who took a segment is its header's to say; without it an answer as Ferry's receivers give it is one of a spool that is not known"
    )
    func receivers() {
        let answer = Array("{\"segment\":\"a\",\"events\":1,\"duplicate\":false}\n".utf8)
        #expect(ReceiverAnswer.receiver("abc", answer) == "abc")
        #expect(ReceiverAnswer.receiver("not one", answer) == nil)
        #expect(ReceiverAnswer.receiver(nil, answer) == nil)
        #expect(ReceiverAnswer.receiver(nil, Array("{ \"duplicate\" : true }".utf8)) == nil)
        #expect(ReceiverAnswer.receiver(nil, Array("ok".utf8)) == LedgerEntry.noSpool)
        #expect(ReceiverAnswer.receiver(nil, Array("{\"accepted\":4,\"duplicates\":0}".utf8)) == LedgerEntry.noSpool)
        #expect(ReceiverAnswer.receiver(nil, []) == LedgerEntry.noSpool)
    }
}
