import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("One user writes, another sends, a third looks")
struct TwoUserTests {
    private let folder = TemporaryFolder()
    private static let group = "65510"

    private enum User: String { case writer = "65501", sender = "65502", reader = "65503" }

    private func start(_ user: User, _ arguments: [String], input: String? = nil) throws -> Running {
        try Program("/usr/bin/env", environment: ["FERRY": Program.ferry]).start(
            [
                "setpriv", "--reuid=\(user.rawValue)", "--regid=\(user.rawValue)", "--groups=\(Self.group)", "sh", "-c",
                "umask 077; exec \"$FERRY\" \"$@\"", "ferry",
            ] + arguments, input: input)
    }

    private func run(_ user: User, _ arguments: String..., input: String? = nil) async throws -> Program.Result {
        try await start(user, arguments, input: input).end()
    }

    /// A spool that the three share; `nil` where other users cannot be had.
    private func sharedSpool() async throws -> String? {
        guard getuid() == 0, Program.find("setpriv") != nil else {
            print("NOT TESTED: other users cannot be had here")
            return nil
        }
        chmod(folder.path, 0o755)
        let made = try await Program().run("init", folder("spool"), "--group", Self.group)
        #expect(made.status == 0, "\(made.errors)")
        return folder("spool")
    }

    @Test("All three do their part, whatever the umask")
    func threeUsers() async throws {
        guard let spool = try await sharedSpool() else { return }
        let written = try await run(.writer, "write", "--spool", spool, input: "1\n2\n")
        #expect(written.status == 0, "\(written.errors)")
        let before = try await run(.reader, "status", "--spool", spool)
        #expect(before.status == 0, "\(before.errors)")
        #expect(before.output.contains("pending   1 segment,"))
        #expect(try await run(.reader, "cat", "--spool", spool).output == "1\n2\n")
        let hub = try await Hub(folder("hub"))
        let upload = try await run(.sender, "upload", "--spool", spool, "--to", hub.url)
        await hub.stop()
        #expect(upload.status == 0, "\(upload.errors)")
        let after = try await run(.reader, "status", "--spool", spool)
        #expect(after.output.contains("sent      1 segment,"))
        #expect(try await run(.writer, "write", "--spool", spool, input: "3\n").status == 0)
        #expect(try await run(.sender, "prune", "--spool", spool, "--max-spool-bytes", "1").output.contains("evicted 1 segment"))
    }

    @Test("A dead writer's journal is sealed by the other user")
    func otherUsersJournal() async throws {
        guard let spool = try await sharedSpool() else { return }
        let writer = try Program("/usr/bin/env", environment: ["FERRY": Program.ferry]).start([
            "setpriv", "--reuid=65501", "--regid=65501", "--groups=\(Self.group)", "sh", "-c",
            "umask 077; (echo 1; sleep 600) | \"$FERRY\" write --spool \"$0\" & echo $! >&2; wait", spool,
        ])
        let opened = try Spool.open(spool, access: .read)
        try await eventually("the event is in the journal") {
            for name in try opened.directory.names() where name.hasSuffix(".open") {
                if try opened.directory.status(name)?.size == ByteCount(2) { return true }
            }
            return false
        }
        let number = try #require(Int32(writer.errors.split(separator: "\n").first ?? ""))
        kill(number, SIGKILL)
        try await eventually("the writer is gone") { try opened.housekeeping.unfinished(try opened.scan()).journals.count == 1 }
        writer.send(SIGKILL)
        let list = try await run(.sender, "prune", "--spool", spool, "--max-sent-age", "7d")
        #expect(list.status == 0, "\(list.errors)")
        #expect(try await run(.sender, "cat", "--spool", spool).output == "1\n")
    }

    @Test("A file and a journal that one may not read are named, and stop nothing")
    func unreadable() async throws {
        guard let spool = try await sharedSpool() else { return }
        let opened = try Spool.open(spool, access: .write)
        try opened.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        let secret = try opened.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        chmod("\(spool)/\(secret)", 0o600)
        try opened.put(Segments.gzip("3\n"), as: Segments.name(second: 3))
        let journal = Segments.name(second: 4).journalName
        try opened.directory.replace(journal, with: Array("4\n".utf8), durable: false)
        chmod("\(spool)/\(journal)", 0o600)

        let status = try await run(.reader, "status", "--spool", spool)
        #expect(status.status == 74)
        #expect(status.output.contains("pending   3 segments,"))
        #expect(status.output.contains("cannot be read (1):"))
        #expect(status.output.contains(secret))
        let cat = try await run(.reader, "cat", "--spool", spool)
        #expect(cat.status == 74)
        #expect(cat.output == "1\n3\n")
        let verify = try await run(.reader, "verify", "--spool", spool)
        #expect(verify.status == 74)
        #expect(verify.output.contains("sound: 2 segments"))
        #expect(verify.output.contains("unreadable: 1"))
        let list = try await run(.reader, "list", "--spool", spool)
        #expect(list.status == 74)
        #expect(list.output.split(separator: "\n").count == 3)

        let hub = try await Hub(folder("hub"))
        let upload = try await run(.sender, "upload", "--spool", spool, "--to", hub.url)
        await hub.stop()
        #expect(upload.status == 74, "\(upload.errors)")
        #expect(upload.output.contains("sent 2 segments"))
        #expect(upload.output.contains("left 1 segment that cannot be used"))
        #expect(upload.errors.contains(journal))
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]) == ["1", "3"])
        #expect(try opened.directory.contains(journal))
    }

    @Test("What comes another way too, and lies here as another user's file, does not go back on it")
    func foreignNotes() async throws {
        guard let path = try await sharedSpool() else { return }
        let (spool, other) = (try Spool.open(path, access: .write), try Spool.open(folder("other"), access: .create))
        let name = try other.put(Segments.gzip("1\n"))
        try spool.put(Segments.gzip("1\n"), as: #require(SegmentName(name)))
        chmod("\(path)/\(name)", 0o644)
        let relay = try start(.sender, ["receive", "--listen", "127.0.0.1:0", "--spool", path])
        let port = try await relay.waitFor("listening on http://127.0.0.1:").prefix { $0.isNumber }
        let there = try await Program().run("upload", "--spool", other.path, "--to", "http://127.0.0.1:\(port)/v1/segments")
        #expect(there.status == 0, "\(there.errors)")
        relay.send(SIGTERM)
        _ = await relay.end()
        #expect(try spool.stateDirectory?.names().contains { $0.hasPrefix("ways-") } == true)
        let hub = try await Hub(other.path)
        let back = try await run(.sender, "upload", "--spool", path, "--to", hub.url)
        await hub.stop()
        #expect(back.status == 75, "\(back.errors)")
        #expect(try spool.pending() == [name])
    }

    @Test("A segment that one may not open and that a limit would drop is named: prune ends with 74, and drops the others")
    func prunesTheOthers() async throws {
        guard let spool = try await sharedSpool() else { return }
        let opened = try Spool.open(spool, access: .write)
        let secret = try opened.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        chmod("\(spool)/\(secret)", 0o600)
        try opened.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        let prune = try await run(.sender, "prune", "--spool", spool, "--max-spool-bytes", "1")
        #expect(prune.status == 74)
        #expect(prune.output.contains("evicted 1 segment"))
        #expect(prune.errors.contains(secret))
    }

    @Test(
        "Where .ferry may not be looked into, those who look say so and end with 74",
        arguments: [["status"], ["list"], ["cat"], ["verify"]])
    func closedState(command: [String]) async throws {
        guard let spool = try await sharedSpool() else { return }
        try Spool.open(spool, access: .write).put(Segments.gzip("1\n"))
        chmod("\(spool)/.ferry", 0o700)
        let result = try await run(.reader, command[0], "--spool", spool)
        #expect(result.status == 74)
        #expect(result.errors.contains(".ferry"))
    }

    @Test("In a sticky folder another user's segment, which could not be moved away, is not sent but named; one's own is sent")
    func sticky() async throws {
        guard let spool = try await sharedSpool() else { return }
        #expect(try await run(.writer, "write", "--spool", spool, input: "1\n").status == 0)
        let other = try #require(try Spool.open(spool, access: .read).pending().first)
        #expect(try await run(.sender, "write", "--spool", spool, input: "2\n").status == 0)
        chmod(spool, 0o3770)
        let hub = try await Hub(folder("hub"))
        let first = try await run(.sender, "upload", "--spool", spool, "--to", hub.url)
        let again = try await run(.sender, "upload", "--spool", spool, "--to", hub.url)
        let arrived = try Spool.open(folder("hub"), access: .read).events(in: [.pending])
        let root = try await Program().run("upload", "--spool", spool, "--to", hub.url)
        await hub.stop()
        #expect(first.status == 74, "\(first.errors)")
        #expect(first.output.contains("left 1 segment that cannot be used"), "\(first.output)")
        #expect(first.output.contains("its sticky folder: \(spool)/\(other)"), "\(first.output)")
        #expect(again.status == 74)
        #expect(arrived == ["2"])
        #expect(root.status == 0, "\(root.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]).sorted() == ["1", "2"])
    }

    @Test("A rejected segment of another user that cannot be moved out of a sticky folder is not retried, and has no line of it")
    func stickyRejected() async throws {
        guard let spool = try await sharedSpool() else { return }
        #expect(try await run(.writer, "write", "--spool", spool, input: "1\n").status == 0)
        let name = try #require(try Spool.open(spool, access: .read).pending().first)
        do {
            let opened = try Spool.open(spool, access: .write)
            guard case .claimed(let claim) = opened.claims.take(name) else { throw InVain(what: "the claim") }
            let reason = RejectionReason(at: .now(), kind: "status", message: "HTTP 400", attempts: 1)
            let entry = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: claim.status.size)
            try opened.endings.settle([Ending(claim, .rejected(reason), entry)])
        }
        chmod("\(spool)/rejected", 0o3770)
        let retried = try await run(.sender, "retry", "--all", "--spool", spool)
        #expect(retried.status == 74)
        #expect(retried.errors.contains("its sticky folder"), "\(retried.errors)")
        // Another user's reason would stay behind.
        #expect(try await run(.writer, "retry", "--all", "--spool", spool).status == 74)
        #expect(try Spool.open(spool, access: .read).ledger.totals()[.retried].segments == 0)
        #expect(chown("\(spool)/rejected/\(name).reason.json", 65501, 65510) == 0)
        let own = try await run(.writer, "retry", "--all", "--spool", spool)
        #expect(own.status == 0, "\(own.errors)")
        #expect(try Spool.open(spool, access: .read).ledger.totals()[.retried].segments == 1)
    }

    @Test("A folder in sent/ that one may not read hinders no pruning")
    func unreadableDay() async throws {
        guard let spool = try await sharedSpool() else { return }
        let opened = try Spool.open(spool, access: .write)
        let sent = try opened.directory.makeDirectory("sent")
        for day in ["2026-01-01", "2026-01-02"] { _ = try sent.makeDirectory(day).create("x.jsonl.gz") }
        for name in ["lost+found", "2026-01-03"] { #expect(mkdir("\(spool)/sent/\(name)", 0o700) == 0) }
        opened.settleClock(at: .now())
        let prune = try await run(.sender, "prune", "--spool", spool, "--max-sent-age", "7d")
        #expect(prune.status == 74)
        #expect(prune.output.contains("deleted 2 delivered segments"))
        #expect(prune.errors.contains("lost+found"))
    }

    @Test("A spool that is named and missing is an error that says how to make it; the default one is made")
    func missing() async throws {
        let named = try await Program().run("write", "--spool", folder("none"), input: "1\n")
        #expect(named.status == 74)
        #expect(named.errors.contains("ferry init \(folder("none"))"))
        #expect(access(folder("none"), F_OK) != 0)
        let made = try await Program(environment: ["FERRY_SPOOL": folder("own")]).run("write", input: "1\n")
        #expect(made.status == 0)
        #expect(made.errors.contains("made the spool \(folder("own"))"))
    }

    @Test("What root does in another user's spool leaves everything in it that user's")
    func rootHelps() async throws {
        guard try await sharedSpool() != nil else { return }
        #expect(mkdir(folder("own"), 0o700) == 0)
        #expect(chown(folder("own"), 65501, 65501) == 0)
        let made = try await run(.writer, "init", folder("own"))
        #expect(made.status == 0, "\(made.errors)")
        let hub = try await Hub(folder("hub"))
        #expect(try await Program().run("write", "--spool", folder("own"), "--roll-events", "1", input: "1\n2\n").status == 0)
        let rooted = try await Program().run("upload", "--spool", folder("own"), "--to", hub.url, "--limit", "1")
        #expect(rooted.status == 0 || rooted.status == 75, "\(rooted.errors)")
        _ = try await Program().run("pause", "--spool", folder("own"))
        let others = try await Program("/usr/bin/find").run(folder("own"), "!", "(", "-uid", "65501", "-gid", "65501", ")")
        #expect(others.output.isEmpty, "\(others.output)")
        #expect(try await run(.writer, "resume", "--spool", folder("own")).status == 0)
        #expect(try await run(.writer, "write", "--spool", folder("own"), input: "3\n").status == 0)
        let upload = try await run(.writer, "upload", "--spool", folder("own"), "--to", hub.url)
        await hub.stop()
        #expect(upload.status == 0, "\(upload.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]).sorted() == ["1", "2", "3"])
    }

    @Test("Every state file of a shared spool is the group's")
    func sharedState() async throws {
        guard let spool = try await sharedSpool() else { return }
        #expect(try await run(.writer, "write", "--spool", spool, input: "1\n").status == 0)
        let find = ["!", "(", "-gid", Self.group, "-perm", "-660", ")"]
        let closed = try await Program("/usr/bin/find").start([spool] + find).end()
        #expect(closed.output.isEmpty, "\(closed.output)")
    }

    @Test("Sharing a folder leaves links and other programs' hidden folders alone, and shares the rest")
    func sharesOnlyItsOwn() async throws {
        guard try await sharedSpool() != nil else { return }
        let prepared = try await Program("/bin/sh").run(
            "-c",
            """
            umask 077; cd "$0"; mkdir ig ig/.ssh ig/sub; echo x | tee outside ig/.ssh/id ig/sub/f >ig/z.json.gz
            ln -s /nowhere ig/dangling; ln -s ../outside ig/link
            """, folder.path)
        #expect(prepared.status == 0, "\(prepared.errors)")
        let shared = try await Program().run("init", folder("ig"), "--group", Self.group)
        #expect(shared.status == 0, "\(shared.errors)")
        let modes = try await Program("/bin/sh").run(
            "-c", "cd \"$0\"; stat -c '%a %g' outside ig/.ssh ig/.ssh/id ig/sub ig/sub/f ig/z.json.gz", folder.path)
        let group = Self.group
        #expect(modes.output == "600 0\n700 0\n600 0\n2770 \(group)\n660 \(group)\n660 \(group)\n")
    }
}
