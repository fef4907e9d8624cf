import FerrySpool
import Testing

@testable import FerryUpload

@Suite("Which segments are for a lane") struct LaneTests {
    private let name = LaneName("hub")!

    @Test(
        "Stars and question marks",
        arguments: [
            ("audit", "audit", true), ("audit", "aud*", true), ("audit", "*dit", true), ("audit", "a*d*t", true),
            ("audit", "?udit", true), ("audit", "audi", false), ("audit", "audit?", false), ("", "*", true), ("", "?", false),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*a*a*c", false),
        ])
    func patterns(_ text: String, _ pattern: String, _ isMatch: Bool) {
        #expect(NamePattern.matches(text, pattern) == isMatch)
    }

    @Test("Without rules all are") func all() {
        #expect(Lane(name).takes(stream: nil, .normal, of: "/var/spool/a"))
    }

    @Test("A stream's name decides, and default stands for none") func streams() {
        let lane = Lane(name, streams: ["audit*", "default"])
        #expect(lane.takes(stream: "audit-x", .normal, of: "a"))
        #expect(lane.takes(stream: nil, .normal, of: "a"))
        #expect(!lane.takes(stream: "web", .normal, of: "a"))
    }

    @Test("The priority decides") func priorities() {
        let lane = Lane(name, priorities: 0...4)
        #expect(lane.takes(stream: nil, .critical, of: "a"))
        #expect(!lane.takes(stream: nil, .normal, of: "a"))
    }

    @Test("The spool decides, by its folder's name or its path") func spools() {
        let lane = Lane(name, spools: ["web*", "/srv/b"])
        #expect(lane.takes(stream: nil, .normal, of: "/var/web-1"))
        #expect(lane.takes(stream: nil, .normal, of: "/srv/b"))
        #expect(!lane.takes(stream: nil, .normal, of: "/srv/c"))
    }
}
