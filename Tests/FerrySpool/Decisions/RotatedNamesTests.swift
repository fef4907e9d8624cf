import Testing

@testable import FerrySpool

@Suite("Which files a log was rotated to, by their names")
struct RotatedNamesTests {
    private func rotated(_ base: String, _ names: [String]) -> [String] {
        RotatedNames(of: base).rotated(among: names).map(\.text)
    }

    @Test("Numbers count from the newest on, dates from the oldest")
    func order() {
        #expect(
            rotated("app.log", ["app.log", "app.log.1", "app.log.10", "app.log.2", "app.log-3"]) == [
                "app.log.10", "app.log-3", "app.log.2", "app.log.1",
            ])
        #expect(
            rotated("app.log", ["app.log-20261122", "app-20261121.log", "app.log.2026-11-20", "app.log-20261122-1790000000"])
                == ["app.log.2026-11-20", "app-20261121.log", "app.log-20261122", "app.log-20261122-1790000000"])
        #expect(
            rotated("app.log", ["app.log-1790000001", "app.log-1790000000"]) == ["app.log-1790000000", "app.log-1790000001"])
    }

    @Test("Of one day the tenth file follows the ninth")
    func manyADay() {
        let names = (0..<12).map { "app-2026-11-27.\($0).log" }
        #expect(rotated("app.log", names.sorted() + ["app-2026-11-28.0.log"]) == names + ["app-2026-11-28.0.log"])
    }

    @Test(
        "Other neighbours are no rotated files: other logs, copies, logs of other workers",
        arguments: [
            "app.log.bak", "app.log.10.bak", "app.log.err", "app-1.log", "app.1.log", "app-123456.log", "other.log.1",
            "app.logger",
            "app.log.", "app.log-", "app.log.20261399", "app-20261121.log.bak", "app.log.1a", "1", "app-20261121",
        ])
    func neighbours(name: String) { #expect(rotated("app.log", [name]) == []) }

    @Test("A name without an extension has rotated files, too")
    func withoutExtension() {
        #expect(rotated("log", ["log.1", "logs.1", "log-2", "log", "log-20261121"]) == ["log-2", "log.1", "log-20261121"])
    }

    @Test("A compressed file is one, unless it stands there plain")
    func compressed() {
        let names = [
            "app.log.1", "app.log.1.gz", "app.log.2.gz", "app.log.3.zst", "app.log.4.xz", "app-20261121.log.gz", "app.log.gz",
        ]
        #expect(
            rotated("app.log", names) == ["app.log.4.xz", "app.log.3.zst", "app.log.2.gz", "app.log.1", "app-20261121.log.gz"])
        #expect(RotatedNames(of: "app.log").rotated(among: names).map(\.isCompressed) == [true, true, true, false, true])
        #expect(rotated("app.log", ["app.log.1", "app.log.10.gz"]) == ["app.log.10.gz", "app.log.1"])
    }
}
