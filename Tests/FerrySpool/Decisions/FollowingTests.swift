import Testing

@testable import FerrySpool

@Suite("How far a log is followed, and which files it was rotated to")
struct FollowingTests {
    @Test("Rotated files are known by the names that logrotate and loggers give; the newest is the last")
    func rotated() {
        let names = RotatedNames(of: "app.log")
        #expect(
            names.rotated(among: [
                "app.log", "app.log.1", "app.log.10", "app.log.2", "app.log.3.gz", "app.log.bak", "other.log.1",
            ])
                == ["app.log.10", "app.log.2", "app.log.1"])
        #expect(
            names.rotated(among: ["app.log-20261122", "app-20261121.log", "app.log.2026-11-20", "app.logger"])
                == ["app.log.2026-11-20", "app-20261121.log", "app.log-20261122"])
        #expect(RotatedNames(of: "log").rotated(among: ["log.1", "logs.1", "log-1", "log"]).count == 2)
        #expect(names.after("app.log.10", among: ["app.log.1", "app.log.10", "app.log.2"]) == ["app.log.2", "app.log.1"])
        #expect(names.after("app.log.1", among: ["app.log.1", "app.log.2"]).isEmpty)
    }

    private var identity: FollowedIdentity {
        get throws { FollowedIdentity(try FileStatus(of: "/"), head: FollowedHead(Array("head".utf8))) }
    }

    @Test("A journal that is longer than noted has lines behind the place; a shorter one only those from its start")
    func resuming() throws {
        var place = FollowedPlace(try identity, offset: 100)
        #expect(place.resuming(journal: 50) == (100, 0))
        place.segment = "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
        (place.offset, place.length) = (300, 150)
        #expect(place.resuming(journal: 150) == (300, 0))
        #expect(place.resuming(journal: 170) == (300, 20))
        #expect(place.resuming(journal: 140) == (100, 140))
        #expect(place.resuming(journal: nil) == (300, 0))
    }

    @Test("A place is read as it was written; what is none is none")
    func text() throws {
        var place = FollowedPlace(try identity, offset: 7)
        place.segment = "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
        (place.offset, place.length) = (.max, 3)
        let text = place.text(path: "/var/log/\"app\".log")
        #expect(FollowedPlace(text: text) == place)
        #expect(place.numbers.count == 40)
        #expect(FollowedPlace(text: Array(text.dropLast(2))) == nil)
        #expect(FollowedPlace(text: []) == nil)
        // It cannot have begun behind where it is.
        place.offset = 6
        #expect(FollowedPlace(text: place.text(path: "x")) == nil)
    }

    @Test("A file is known by its first bytes, as many as were there")
    func head() {
        let head = FollowedHead(Array("abc".utf8))
        #expect(head.begins(Array("abcdef".utf8)))
        #expect(!head.begins(Array("abd".utf8)))
        #expect(!head.begins(Array("ab".utf8)))
        #expect(FollowedHead([]).begins([1]))
    }
}
