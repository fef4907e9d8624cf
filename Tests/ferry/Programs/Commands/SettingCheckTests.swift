import TestSupport
import Testing

@Suite("Options, by the rules of the settings that they stand for")
struct SettingCheckTests {
    private let ferry = Program()

    @Test(
        "An option and its setting refuse the same values in the same words",
        arguments: [
            ("parallel", "parallel", "300", "must be a whole number from 1 to 256"),
            ("parallel", "parallel", "0", "must be a whole number from 1 to 256"),
            ("method", "method", "get", "must be capital letters, like POST or PUT"),
            ("bandwidth", "bandwidth", "fast", "must be like 500KB/s or '08:00 100KB, 19:00 off', at least 256 B/s"),
            ("due", "due.time", "25:00", "must be a time like 04:00"),
        ])
    func words(option: String, key: String, value: String, words: String) async throws {
        let upload = try await ferry.run("upload", "--to", "http://127.0.0.1:1/", "--\(option)", value)
        #expect(upload.status == 64)
        #expect(upload.errors.contains("--\(option) '\(value)' \(words)"), "\(upload.errors)")
        let config = try await ferry.run("config", "show", "--set", "\(key)=\(value)")
        #expect(config.status == 78)
        #expect(config.errors.contains("--set \(key): '\(value)' \(words)"), "\(config.errors)")
    }

    @Test("What a setting calls off, its option does, too", arguments: ["bandwidth", "due"])
    func off(option: String) async throws {
        let folder = TemporaryFolder()
        _ = try folder.spool()
        let upload = ["upload", "--spool", folder("spool"), "--to", "http://127.0.0.1:1/", "--dry-run"]
        #expect(try await ferry.start(upload + ["--\(option)", "off"]).end().status == 0)
    }
}
