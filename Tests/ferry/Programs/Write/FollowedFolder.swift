import FerrySpool
import Foundation
import TestSupport
import Testing

/// A log, files beside it, and a spool that it is followed into.
struct FollowedFolder {
    let folder = TemporaryFolder()
    var log: String { folder("app.log") }
    var spool: String { folder("s") }

    init() throws { _ = try Spool.open(folder("s"), access: .create) }

    func append(_ text: String, to name: String = "app.log") throws {
        let path = folder(name)
        if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    func append(_ numbers: ClosedRange<Int>, to name: String = "app.log") throws {
        try append(numbers.map { "{\"n\":\($0)}\n" }.joined(), to: name)
    }

    func move(_ from: String, _ to: String) { #expect(rename(folder(from), folder(to)) == 0) }

    /// Copies the log and empties it.
    func copyAway(to name: String) throws {
        try FileManager.default.copyItem(atPath: log, toPath: folder(name))
        #expect(truncate(log, 0) == 0)
    }

    func compress(_ name: String, with program: String = "gzip") async throws {
        let options = program == "zstd" ? "-q --rm" : "-q"
        #expect(try await Program("/bin/sh").run("-c", "\(program) \(options) \(folder(name))").status == 0)
    }

    /// Rotates the log as logrotate does.
    func rotate(_ way: String) async throws {
        let text = "\(log) {\n rotate 60\n missingok\n su root root\n \(way)\n}\n"
        try text.write(toFile: folder("conf"), atomically: true, encoding: .utf8)
        #expect(chmod(folder("conf"), 0o644) == 0 && chmod(folder.path, 0o755) == 0)
        let result = try await Program(try #require(Program.find("logrotate"))).run("-f", "-s", folder("state"), folder("conf"))
        #expect(result.status == 0, "\(result.errors)")
    }

    var arguments: [String] { ["write", "--spool", spool, "--follow", log, "--roll-after", "100ms"] }

    func follow(_ options: String...) throws -> Running { try Program().start(arguments + options) }

    var stored: [String] { get throws { try Spool.open(spool, access: .read).events(in: [.pending]) } }

    /// What is noted; `nil` before the first note.
    var place: FollowedPlace? {
        get throws {
            let notes = folder("s/.ferry/follow")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: notes)) ?? []
            guard let name = names.first(where: { !$0.contains(".") }) else { return nil }
            return FollowedPlace(text: Array(try Data(contentsOf: URL(fileURLWithPath: "\(notes)/\(name)"))))
        }
    }

    func isFollowed() async throws { try await eventually("the log is followed") { try place != nil } }

    func numbers(_ range: ClosedRange<Int>) -> [String] { range.map { "{\"n\":\($0)}" } }

    func waits(for range: ClosedRange<Int>) async throws {
        try await eventually("\(range) is stored") { try stored.count >= range.count }
        #expect(try stored == numbers(range))
    }

    func stop(_ running: Running, saying words: String? = nil) async {
        running.send(SIGTERM)
        let result = await running.end()
        #expect(result.status == 0, "\(result.errors)")
        if let words { #expect(result.errors.contains(words), "\(result.errors)") } else { #expect(result.errors == "") }
    }
}
