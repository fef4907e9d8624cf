import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

/// What Ferry says when it is asked for something that cannot be: each text names what is wrong, and the next step.
@Suite("Words for mistakes")
struct WordsTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func expect(
        _ arguments: [String], _ status: Int32, _ texts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws { try await ferry.expect(arguments, status, texts, sourceLocation: sourceLocation) }

    @Test("The delivered part of a segment that is rejected after that is told as such")
    func rejectedPart() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<50)), as: Segments.name())
        let count = Mutex(0)
        let server = ScriptedServer.answering { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return ScriptedServer.answer(isFirst ? 200 : 400)
        }
        let result = try await Program().run(
            "upload", "--spool", spool.path, "--to", server.url, "--body", "json-array", "--request-events", "20")
        #expect(result.status == 65)
        #expect(result.output.contains("sent 20 events of segments that were rejected after that\n"), "\(result.output)")
        #expect(!result.output.contains("not sent to their end"))
    }

    @Test("A size without its unit, of no byte or a part of one, evicts nothing", arguments: ["1.5", "0", "0.5KB0", ""])
    func sizes(text: String) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        try await expect(
            ["prune", "--spool", spool.path, "--max-spool-bytes", text], 64, ["a size is like 500KB, 10MB or 1GiB"])
        #expect(try spool.pending().count == 1)
    }

    @Test("How long delivered segments are kept is a duration with its unit", arguments: ["30", "abc", "-1s", "0"])
    func kept(text: String) async throws {
        let spool = try folder.spool()
        try await expect(
            ["upload", "--spool", spool.path, "--to", "http://127.0.0.1:9/", "--keep-sent=\(text)"], 64,
            ["--keep-sent '\(text)' must be a duration like 30d, or forever"])
    }

    @Test("An age that would drop everything is refused", arguments: ["write", "upload", "prune"])
    func noAge(command: String) async throws {
        let spool = try folder.spool()
        let arguments = [command, "--spool", spool.path, "--max-spool-age", "0s"]
        try await expect(
            arguments + (command == "upload" ? ["--to", "http://127.0.0.1:9/"] : []), 64, ["--max-spool-age must be more than 0"])
    }

    @Test("How a duration is written is told, and a default can be typed as it is shown")
    func durations() async throws {
        let write = ["write", "--create", "--spool", folder("s"), "--roll-after"]
        try await expect(write + ["1"], 64, ["<duration>': a duration is like 250ms, 90s, 5m or 1h30m", "Usage: ferry write"])
        #expect(try await ferry.start(write + ["1 min", "/dev/null"]).end().status == 0)
    }

    @Test("An uploader that sends only when it is asked says so, and how to ask")
    func byHand() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        for text in ["-abc", "-", "-inf", "nan"] {
            let wrong = try await ferry.run("config", "check", "--set", "interval=\(text)")
            #expect(wrong.status == 78, "\(text): \(wrong.errors)")
            #expect(wrong.errors.contains("must be a duration"), "\(text): \(wrong.errors)")
        }
        let running = try ferry.start(["run", "--spool", spool.path, "--to", "http://127.0.0.1:9/", "--set", "interval=-1s"])
        try await eventually("it says so") {
            let status = try await ferry.start(["status", "--spool", spool.path]).end()
            return status.output.contains("it sends when it is asked: ferry flush")
        }
        try await expect(["flush", "--spool", spool.path], 0, ["to be sent now"])
        _ = try spool.control.change(at: .now()) { $0.isPaused = true }
        try await expect(["flush", "--spool", spool.path], 0, ["but it is paused: ferry resume"])
        running.send(SIGTERM)
        #expect(await running.end().status == 0)
        try await expect(["flush", "--spool", spool.path], 0, ["but no ferry run looks after it: ferry upload sends it"])
    }

    @Test("A flush that an uploader cannot obey says why")
    func blockedFlush() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        // In three days; the first day of 1970 was a Thursday.
        let day = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"][(time(nil) / 86_400 + 3) % 7]
        let running = try ferry.start(["run", "--spool", spool.path, "--to", "http://127.0.0.1:9/", "--set", "window=\(day)"])
        try await eventually("it says so") {
            let flush = try await ferry.start(["flush", "--spool", spool.path]).end()
            return flush.errors.contains("but its ferry run sends nothing now: outside the upload window until ")
        }
        running.send(SIGTERM)
        _ = await running.end()
    }

    @Test("Of a segment that goes out in parts it is told how far it is delivered, and no failure")
    func inParts() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<90)), as: Segments.name())
        var state = RetryState.inParts(at: .now())
        (state.attempts, state.delivered) = (2, .init(lines: 40, destination: "d", content: nil))
        try spool.directory.replace("\(name).retry.json", with: Array(JSONEncoder().encode(state)), durable: false)
        try await expect(["list", "--spool", spool.path], 0, ["due, its first 40 lines are delivered"])
        try await expect(["status", "--spool", spool.path], 0, ["due, its first 40 lines are delivered"])
    }

    @Test("A folder that holds other files is not called empty, and none without a name is offered")
    func folders() async throws {
        try FileManager.default.createDirectory(atPath: folder("above/spool"), withIntermediateDirectories: true)
        try await expect(["list", "--spool", folder("above")], 74, ["holds other files", "is it the one above the spool?"])
        try await expect(["list", "--spool", folder("above/spool")], 74, ["the folder is empty: is its file system mounted?"])
        try await expect(["list", "--spool", ""], 74, ["a spool's name is empty"])
    }

    @Test("The check of a configuration finds collections that are not there, and folders that are no spools")
    func collections() async throws {
        try FileManager.default.createDirectory(atPath: folder("col/e"), withIntermediateDirectories: true)
        for spools in ["nowhere/*", "col/*", "col/e"] {
            try "to: http://h/\nspools: [\(folder(spools))]\n".write(toFile: folder("c.yaml"), atomically: true, encoding: .utf8)
            try await expect(["config", "check", "--config", folder("c.yaml")], 78, ["c.yaml:2: ", "cannot "])
        }
    }

    @Test(
        "Keys below a setting that has none are told as what they are",
        arguments: [("headers: {App-Secret: x}", "'headers' takes a list"), ("interval: {a: 1}", "'interval' takes one value")])
    func mapping(line: String, text: String) async throws {
        try "to: http://h/\n\(line)\n".write(toFile: folder("c.yaml"), atomically: true, encoding: .utf8)
        try await expect(["config", "check", "--config", folder("c.yaml")], 78, ["c.yaml:2: \(text), ", "no keys below it"])
    }

    @Test("A bundle is given up by the name that it has on the stick; its receipt is told to be late, and so is a second one")
    func bundles() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        let stick = folder("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: false)
        try await expect(["export", stick, "--spool", spool.path], 0, ["exported 1 segment"])
        let bundle = try #require(try FileManager.default.contentsOfDirectory(atPath: stick).first)
        let id = String(bundle.dropFirst("ferry-bundle-".count))
        try await expect(
            ["list", "--spool", spool.path, "--json"], 0, ["\"bundle\":\"\(id)\"", "\"state\":\"exported\""])
        try await expect(["import", stick, "--spool", folder("hub")], 0, ["took 1 segment"])
        let receipt = try #require(
            try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.hasPrefix("ferry-receipt-") })
        try await expect(["export", "--forget", "\(stick)/\(bundle)", "--spool", spool.path], 0, ["is given up"])
        try await expect(
            ["acknowledge", "\(stick)/\(receipt)", "--spool", spool.path], 65,
            ["waits for no receipt any more: acknowledged before", "1 of its segments are pending"])
        try spool.directory.remove(try #require(try spool.pending().first))
        try await expect(
            ["acknowledge", "\(stick)/\(receipt)", "--spool", spool.path], 0,
            ["none of its segments is pending by its name: the receipt is of no more use"])
        try await expect(
            ["acknowledge", "\(stick)/none", "--spool", spool.path], 74,
            ["No such file or directory; ferry import writes receipts"])
    }

    @Test("What cannot be is refused before anything is done")
    func refused() async throws {
        try await expect(["keygen", ""], 64, ["must be what the files are called"])
        try await expect(["keygen", folder("")], 64, ["must be what the files are called"])
        try await expect(
            ["replay", folder(""), "--to", "http://127.0.0.1:1/", "--set", "x"], 64, ["the setting 'x' must be like key=value"])
        try await expect(
            [
                "receive", "--spool", folder("rx"), "--listen", "127.0.0.1:0", "--tls-cert", folder("no"), "--tls-key",
                folder("no"),
            ],
            78, ["cannot open \(folder("no")): No such file or directory"])
        for wrong in [["--user", "a b"], ["--every", ""], ["--to", "not a url"], ["--quit", "--to", "http://h/"]] {
            try await expect(["service", "print", "--role", "upload"] + wrong, 64, [wrong[0]])
        }
        #expect(!FileManager.default.fileExists(atPath: folder(".key")))
    }

    @Test("A flush that nothing obeys says so")
    func flush() async throws {
        let spool = try folder.spool()
        try await expect(["flush", "--spool", spool.path], 0, ["no ferry run looks after it: ferry upload sends it"])
    }

    @Test("At a line that is no event it is told how to go on behind what is stored, without doubling or losing a line")
    func invalidLine() async throws {
        let lines = ["{\"n\":1}", "{\"n\":2}", "not json", "{\"n\":4}"]
        try lines.joined(separator: "\n").write(toFile: folder("in"), atomically: true, encoding: .utf8)
        let write = ["write", "--create", "--spool", folder("s")]
        try await expect(
            write + ["--json", folder("in")], 65,
            [
                "\"nextLine\":3,", "\"storedLines\":2",
                "To go on, with the same options: tail -n +3 \(folder("in")) | ferry write --spool \(folder("s")) --first-line 3",
            ])
        let rest = try await ferry.start(write + ["--first-line", "3", "--skip-invalid"], input: "not json\n{\"n\":4}\n").end()
        #expect(rest.status == 65)
        #expect(try Spool.open(folder("s"), access: .read).events(in: [.pending]) == ["{\"n\":1}", "{\"n\":2}", "{\"n\":4}"])
    }
}
