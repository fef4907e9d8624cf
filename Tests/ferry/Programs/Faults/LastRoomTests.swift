import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("A full disk that others took the last room of leaves a way out")
struct LastRoomTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    @Test("Where there is room for no file, and another process took that of the reserve, what is stored is sent")
    func noFileForTheLedger() async throws {
        guard folder.mount("size=2m,nr_inodes=20") else { return }
        let hub = try await Hub(folder("hub"))
        let url = hub.url
        let result = try await shell(
            """
            echo 1 | "$FERRY" write -q --create --spool "$DIR/m/s"; rm "$DIR/m/s/.ferry/reserve"
            for i in $(seq 20); do touch "$DIR/m/f$i" || break; done 2>/dev/null
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(url); echo $?
            """)
        await hub.stop()
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]) == ["1"])
    }

    @Test(
        "Where the reserve is gone, the room behind the ledger's last line lets the disk drain, also on the next day",
        arguments: [false, true])
    func roomInTheLedger(isNextDay: Bool) async throws {
        guard folder.mount("size=512k") else { return }
        let hub = try await Hub(folder("hub"))
        let url = hub.url
        let result = try await shell(
            """
            echo 1 | "$FERRY" write -q --create --spool "$DIR/m/s"; "$FERRY" upload -q --delete-sent --spool "$DIR/m/s" --to \(url)
            for i in $(seq 2 40); do echo $i | "$FERRY" write -q --spool "$DIR/m/s"; done
            cd "$DIR/m/s/.ferry"
            if \(isNextDay); then today=$(echo ledger-*); mv $today ledger-20261101.jsonl; touch $today; fi
            rm reserve; head -c 1000000 /dev/zero >"$DIR/m/filler"
            "$FERRY" upload -q --coalesce off --spool "$DIR/m/s" --to \(url); echo $?
            """)
        await hub.stop()
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]).count == 40)
    }

    private func begin(_ claim: Claim, in spool: Spool) -> Bool {
        do throws(FileError) {
            try spool.sidecars.write(.inParts(at: .now()), of: claim, with: .blocks)
            return true
        } catch {
            #expect(error.isOutOfSpace)
            return false
        }
    }

    @Test("Segments that begin to go out in parts leave the ledger its share of a full disk")
    func beginnings() async throws {
        guard folder.mount("size=512k") else { return }
        let spool = try Spool.open(folder("m/s"), access: .create)
        let names = try (0..<20).map { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: $0)) }
        #expect(try await shell("head -c 1000000 /dev/zero >\"$DIR/m/filler\"").status != 0)
        try spool.room.probe(keepsSent: false)
        var noted = 0
        for name in names {
            guard case .claimed(let claim) = spool.claims.take(name) else {
                throw InVain(what: "a claim")
            }
            if begin(claim, in: spool) { noted += 1 }
        }
        #expect((5...8).contains(noted), "\(noted)")
        #expect(spool.ledger.hasRoom(at: .now()))
        #expect((try? spool.directory.create("one more").write([1])) == nil)
    }

    @Test(
        "What waits goes on, though nothing can be written: in place where that says what else holds",
        arguments: ["pause", "disable", "disable pause"], [false, true])
    func resumes(commands: String, hadDeletion: Bool) async throws {
        guard folder.mount("size=512k") else { return }
        let hub = try await Hub(folder("hub"))
        let url = hub.url
        let result = try await shell(
            """
            echo 1 | "$FERRY" write -q --create --spool "$DIR/m/s"
            if \(hadDeletion); then echo '{"deletesBefore":"2026-01-01T00:00:00.000Z"}' >"$DIR/m/s/.ferry/control.json"; fi
            for command in \(commands); do "$FERRY" $command --spool "$DIR/m/s" >"$DIR/out"; done
            truncate -s 8192 "$DIR/m/s/.ferry/reserve"; head -c 1000000 /dev/zero >"$DIR/m/filler"
            for command in \(commands); do
                case $command in pause) back=resume ;; *) back=enable ;; esac
                "$FERRY" $back --spool "$DIR/m/s" >"$DIR/out" || echo $?
            done
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(url); echo $?
            """)
        await hub.stop()
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]) == ["1"])
    }

    @Test(
        "Segments that are too large for the destination are split on a full disk, each before the next, whatever failed before",
        arguments: [(60, "", 0), (60, "--coalesce 1MiB --parallel 8", 0), (60, "--coalesce 1MiB", 3), (60, "", 3)])
    func splits(most: Int, options: String, failures: Int) async throws {
        guard folder.mount("size=512k") else { return }
        let events = Mutex<[String: Int]>([:])
        let requests = Mutex(0)
        let server = ScriptedServer.answering { [folder] request in
            let number = requests.withLock { number in
                number += 1
                return number
            }
            if number <= failures { return ScriptedServer.answer(503) }
            let path = folder("\(SegmentID.random())")
            guard let file = try? OpenFile.creatingNew(path), (try? file.write(request.body)) != nil,
                let lines = try? Segments.lines(of: .reading(path))
            else { return ScriptedServer.answer(500) }
            if lines.count > most { return ScriptedServer.answer(413) }
            events.withLock { events in for line in lines { events[line, default: 0] += 1 } }
            return ScriptedServer.answer(200)
        }
        let result = try await shell(
            """
            i=0
            while seq $((i * 100)) $((i * 100 + 99)) | "$FERRY" write -q --create --spool "$DIR/m/s" 2>"$DIR/errors"; do i=$((i + 1)); done
            for round in 1 2 3 4 5; do "$FERRY" upload -q --retry-now --spool "$DIR/m/s" --to \(server.url) \(options) && break; done; echo $?
            "$FERRY" list --spool "$DIR/m/s" | wc -l; echo $i
            """)
        let lines = result.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["0", "0"], "\(result.output) \(result.errors)")
        let (stored, got) = (Int(lines.last ?? "") ?? 0, events.withLock { $0 })
        #expect(stored > 20)
        // A writer that found no room may have stored its lines all the same.
        #expect([stored * 100, stored * 100 + 100].contains(got.count))
        #expect(got.values.allSatisfy { $0 == 1 })
    }

    @Test("Where there is no room to note which segments a request carries, each goes out under its own key")
    func alone() async throws {
        guard folder.mount("size=256k") else { return }
        let keys = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            keys.withLock { $0.append(request["idempotency-key"] ?? "") }
            return ScriptedServer.answer(200)
        }
        let result = try await shell(
            """
            while seq 10 | "$FERRY" write -q --create --spool "$DIR/m/s" 2>"$DIR/errors"; do :; done
            "$FERRY" upload -q --coalesce 1MiB --parallel 1 --delete-sent --spool "$DIR/m/s" --to \(server.url); echo $?
            """)
        #expect(result.output == "0\n", "\(result.output) \(result.errors)")
        // The key of a request that carries several has their number.
        let (all, alone) = keys.withLock { ($0.count, $0.prefix { !$0.contains("+") }.count) }
        #expect(alone >= 10)
        #expect(alone < all)
    }

    @Test(
        "Segments that go out in parts leave a full disk, each event once, also where a third of the requests fails",
        arguments: [1, 3, 8], [false, true])
    func parts(connections: Int, fails: Bool) async throws {
        guard folder.mount("size=256k") else { return }
        let count = Mutex(0)
        let events = Mutex<[Substring: Int]>([:])
        let server = ScriptedServer.answering { [folder] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if fails, number < 200, number.isMultiple(of: 3) { return ScriptedServer.answer(500) }
            let path = folder("\(SegmentID.random())")
            guard let file = try? OpenFile.creatingNew(path), (try? file.write(request.body)) != nil,
                let lines = try? Segments.lines(of: .reading(path))
            else { return ScriptedServer.answer(500) }
            let numbers = lines.joined(separator: ",").split { "[],".contains($0) }
            events.withLock { events in for number in numbers { events[number, default: 0] += 1 } }
            return ScriptedServer.answer(200)
        }
        let result = try await shell(
            """
            i=0
            while seq $((i * 100)) $((i * 100 + 99)) | "$FERRY" write -q --create --spool "$DIR/m/s" 2>"$DIR/errors"; do i=$((i + 1)); done
            for round in $(seq \(fails ? 40 : 1)); do
                "$FERRY" upload -q --retry-now --body json-array --request-events 30 --parallel \(connections) --spool "$DIR/m/s" --to \(server.url) && break
            done; echo $?
            """)
        #expect(result.output == "0\n", "\(result.output) \(result.errors)")
        #expect(events.withLock { $0.count } > 2000)
        #expect(events.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    @Test("In strict order segments that go out in parts leave a full disk also where the reserve has a block for one sidecar")
    func partsInOrder() async throws {
        guard folder.mount("size=256k") else { return }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let upload = "\"$FERRY\" upload -q --order strict --body json-array --request-events 7 --delete-sent --to \(server.url)"
        let result = try await shell(
            """
            seq 20 | "$FERRY" write -q --create --spool "$DIR/m/s"; \(upload) --spool "$DIR/m/s"
            for i in $(seq 20); do seq 20 | "$FERRY" write -q --spool "$DIR/m/s"; done
            truncate -s 4096 "$DIR/m/s/.ferry/reserve"; cat /dev/zero >"$DIR/m/filler" 2>/dev/null
            for round in 1 2 3; do \(upload) --spool "$DIR/m/s" && break; done; echo $?
            """)
        #expect(result.output == "0\n", "\(result.output) \(result.errors)")
    }

    private static func refusing(first count: Int) -> ScriptedServer {
        let requests = Mutex(0)
        return .answering { _ in
            let number = requests.withLock { number in
                number += 1
                return number
            }
            return ScriptedServer.answer(number > count ? 200 : 400)
        }
    }

    @Test("In strict order what is refused on a full disk stops nothing behind it")
    func strictRefusals() async throws {
        guard folder.mount("size=512k") else { return }
        let server = Self.refusing(first: 10)
        let result = try await shell(
            """
            while seq 20 | "$FERRY" write -q --create --spool "$DIR/m/s" 2>"$DIR/errors"; do :; done
            "$FERRY" upload -q --order strict --coalesce off --spool "$DIR/m/s" --to \(server.url); echo $?
            "$FERRY" list --spool "$DIR/m/s" | wc -l
            """)
        #expect(result.output == "65\n0\n", "\(result.errors)")
    }

    @Test("What is refused on a full disk leaves the ledger the room that what is taken needs")
    func refusals() async throws {
        guard folder.mount("size=512k") else { return }
        let server = Self.refusing(first: 200)
        let result = try await shell(
            """
            while seq 20 | "$FERRY" write -q --create --spool "$DIR/m/s" 2>"$DIR/errors"; do :; done
            for round in $(seq 9); do
                "$FERRY" upload -q --retry-now --coalesce off --spool "$DIR/m/s" --to \(server.url) && break
            done; echo $?
            "$FERRY" list --spool "$DIR/m/s" | wc -l
            """)
        #expect(result.output == "0\n0\n", "\(result.errors)")
        #expect(try Spool.open(folder("m/s"), access: .read).ledger.totals()[.sent].segments > 20)
    }
}
