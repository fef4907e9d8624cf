import FerryTracker
import FerryTrackerUpload
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("A full disk")
struct FullDiskTests {
    private let folder = TemporaryFolder()
    private static let lines = 4000

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    /// Lines that do not compress much, each with its number.
    private func makeInput() async throws {
        _ = try await shell(
            "head -c 96000 /dev/urandom | od -An -v -tx1 -w24 | awk '{gsub(\" \", \"\"); print \"{\\\"n\\\":\" NR \",\\\"x\\\":\\\"\" $0 \"\\\"}\"}' >\"$DIR/in\""
        )
    }

    @Test("A log on a full disk gets whole lines or none")
    func wholeLines() async throws {
        guard folder.mount("size=256k") else { return }
        let disk = try Directory.open(folder("m"))
        // The end of a page, so that a part of the next line finds room.
        let start = [UInt8](repeating: UInt8(ascii: "a"), count: 4090) + [UInt8(ascii: "\n")]
        try disk.replace("log", with: start, durable: false)
        let filler = try disk.create("filler")
        while (try? filler.write([UInt8](repeating: 0, count: 4096))) != nil {}
        let line = [UInt8](repeating: UInt8(ascii: "b"), count: 500) + [UInt8(ascii: "\n")]
        #expect(throws: FileError.self) { try disk.appendLines(line, to: "log") }
        #expect(try disk.contents(of: "log") == start)
    }

    @Test("A writer says up to which line its input is stored: going on behind it loses none and doubles none, at twenty sizes")
    func exactLine() async throws {
        try await makeInput()
        for step in 0..<20 {
            let size = 44 + step * 20
            guard folder.mount("size=\(size)k") else { return }
            // Files and pipes in turn.
            let input = step.isMultiple(of: 2) ? "\"$DIR/in\"" : "< \"$DIR/in\""
            let written = try await shell("\"$FERRY\" write --create --spool \"$DIR/m/s\" --roll-events 300 \(input)")
            // With 75 all is stored, and its last part published with the next call.
            if written.status == 75 {
                #expect(
                    try await shell("mount -o remount,size=16m \"$DIR/m\" && \"$FERRY\" write --spool \"$DIR/m/s\" </dev/null")
                        .status == 0)
            } else if written.status != 0 {
                #expect(written.status == 73, "\(size) KiB: \(written.errors)")
                let next = written.errors.firstMatch(of: #/tail -n \+([0-9]+) .* --first-line \1$/#.anchorsMatchLineEndings())
                    .map(\.1)
                let rest = try await shell(
                    "mount -o remount,size=16m \"$DIR/m\" && tail -n +\(next ?? "?") \"$DIR/in\" | \"$FERRY\" write --create --spool \"$DIR/m/s\""
                )
                #expect(rest.status == 0, "\(size) KiB: \(rest.errors)")
            }
            let compared = try await shell("\"$FERRY\" cat --spool \"$DIR/m/s\" | cmp - \"$DIR/in\"")
            #expect(compared.status == 0, "\(size) KiB: \(compared.output) \(compared.errors) \(written.errors)")
            folder.unmount()
        }
    }

    @Test("By hand it drains too: exports name as many segments as there is room to name, and receipts end them")
    func drainsByHand() async throws {
        guard folder.mount("size=2000k") else { return }
        let filled = try await shell(
            """
            set -e; mkdir "$DIR/stick"
            seq 400 | sed 's/.*/{"n":&}/' | "$FERRY" write --quiet --create --spool "$DIR/m/s" --roll-events 1
            dd if=/dev/zero of="$DIR/m/fill" bs=1k 2>/dev/null || true
            dd if=/dev/zero of="$DIR/m/more" bs=1 2>/dev/null count=5000 || true
            """)
        #expect(filled.status == 0, "\(filled.errors)")
        var rounds = 0
        while try await shell("ls \"$DIR/m/s\" | grep gz").status == 0, rounds < 20 {
            rounds += 1
            let export = try await shell("\"$FERRY\" export \"$DIR/stick\" --spool \"$DIR/m/s\"")
            #expect([0, 75].contains(export.status), "\(export.errors)")
            let way = try await shell(
                "\"$FERRY\" import \"$DIR/stick\" --spool \"$DIR/hub\" && \"$FERRY\" acknowledge \"$DIR\"/stick/ferry-receipt-* --spool \"$DIR/m/s\" && rm -r \"$DIR\"/stick/*"
            )
            #expect(way.status == 0, "\(way.errors)")
        }
        #expect(rounds > 1)
        #expect(try await shell("\"$FERRY\" cat --spool \"$DIR/hub\" | wc -l").output == "400\n")
    }

    @Test(
        "It drains: what is published is sent, then the journal that found no room is published and sent",
        arguments: ["", "--delete-sent"])
    func drains(_ option: String) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let stored = 2200
        let written = try await shell(
            """
            head -n 1500 "$DIR/in" | "$FERRY" write --create --spool "$DIR/m/s" --roll-events 300 &&
                head -n \(stored) "$DIR/in" | tail -n +1501 >"$DIR/m/s/\(Segments.name(9).journalName)"
            cat /dev/zero >"$DIR/m/filler"
            """)
        #expect(written.output.contains("wrote 1500 events"), "\(written.errors)")
        let status = try await shell("\"$FERRY\" status --spool \"$DIR/m/s\"; \"$FERRY\" list --spool \"$DIR/m/s\" >/dev/null")
        #expect(status.status == 0, "\(status.errors)")
        let hub = try await Hub(folder("hub"))
        let upload = try await shell("\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(hub.url) \(option)")
        await hub.stop()
        #expect(upload.status == 0, "\(upload.output) \(upload.errors)")
        let compared = try await shell(
            "head -n \(stored) \"$DIR/in\" >\"$DIR/stored\"; \"$FERRY\" cat --spool \"$DIR/hub\" | cmp - \"$DIR/stored\"")
        #expect(compared.status == 0, "\(compared.output) \(compared.errors)")
        #expect(try Spool.open(folder("m/s"), access: .read).scan().openJournals == 0)
    }

    @Test(
        "A loop that takes the printed number literally, drains the disk and goes on there, loses no line and doubles none",
        arguments: [120, 170, 200, 220, 260])
    func loop(size: Int) async throws {
        try await makeInput()
        guard folder.mount("size=\(size)k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            next=1
            for round in $(seq 60); do
                tail -n +$next "$DIR/in" |
                    "$FERRY" write --create --spool "$DIR/m/s" --roll-bytes 60kB --first-line $next --json >"$DIR/out" 2>"$DIR/errors"
                status=$?
                "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) --delete-sent || echo "upload $?"
                case $status in
                    0 | 75) break ;;
                    73) next=$(sed -n 's/.*tail -n +\\([0-9]*\\) INPUT | ferry write .*--first-line [0-9]*$/\\1/p' "$DIR/errors") ;;
                    *) echo "write $status" ;;
                esac
                grep -q "nextLine.:$next," "$DIR/out" || echo "no report: $(cat "$DIR/out")"
            done
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) --delete-sent || echo "upload $?"
            echo "last $status"
            """)
        await hub.stop()
        #expect(["last 0\n", "last 75\n"].contains(result.output), "\(result.output) \(result.errors)")
        let compared = try await shell(
            "\"$FERRY\" cat --spool \"$DIR/hub\" | sort >\"$DIR/got\"; sort \"$DIR/in\" | cmp - \"$DIR/got\"; wc -l <\"$DIR/got\""
        )
        #expect(compared.output.trimmingCharacters(in: .whitespacesAndNewlines) == "\(Self.lines)", "\(compared.errors)")
    }

    @Test("What sent/ keeps gives way to what is written, the oldest first", arguments: [160, 300])
    func sentGivesWay(size: Int) async throws {
        try await makeInput()
        guard folder.mount("size=\(size)k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            next=1; total=0
            for round in $(seq 60); do
                tail -n +$next "$DIR/in" | "$FERRY" write --create --spool "$DIR/m/s" --roll-bytes 60kB --first-line $next 2>"$DIR/errors" >/dev/null
                status=$?
                "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) || echo "upload $?"
                [ $status = 73 ] || break
                next=$(sed -n 's/.*--first-line \\([0-9]*\\)$/\\1/p' "$DIR/errors")
            done
            echo "last $status"
            """)
        await hub.stop()
        #expect(["last 0\n", "last 75\n"].contains(result.output), "\(result.output) \(result.errors)")
        let compared = try await shell(
            "\"$FERRY\" cat --spool \"$DIR/hub\" | sort >\"$DIR/got\"; sort \"$DIR/in\" | cmp - \"$DIR/got\" && echo same"
        )
        #expect(compared.output == "same\n", "\(compared.errors)")
    }

    @Test("What sent/ is told to keep does not give way to what is written", arguments: ["--keep-sent 30d", "--keep-sent"])
    func keptOnPurpose(option: String) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let hub = try await Hub(folder("hub"))
        // An upload that was told nothing does not count any more after one that was.
        let result = try await shell(
            """
            head -n 300 "$DIR/in" | "$FERRY" write -q --create --spool "$DIR/m/s"
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) && "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) \(option)
            cat /dev/zero >"$DIR/m/filler" 2>/dev/null
            "$FERRY" write -q --spool "$DIR/m/s" "$DIR/in" 2>/dev/null; echo $?
            ls "$DIR/m/s/sent"/* | wc -l
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url); "$FERRY" write --spool "$DIR/m/s" "$DIR/in" 2>&1 | grep -o 'deleted 1 delivered segment'
            """)
        await hub.stop()
        #expect(result.output == "73\n1\ndeleted 1 delivered segment\n", "\(result.errors)")
    }

    @Test(
        "What is all stored and not published ends with 75, and tells the last line in text and in JSON",
        arguments: ["", "--json"])
    func allStored(option: String) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        // The disk fills when everything is in the journal, and then the input ends.
        let result = try await shell(
            """
            "$FERRY" init "$DIR/m/s" -q
            head -n 1000 "$DIR/in" >"$DIR/stored"
            (cat "$DIR/stored"
             until [ "$(cat "$DIR"/m/s/.*.open 2>/dev/null | wc -c)" = "$(wc -c <"$DIR/stored")" ]; do sleep 0.02; done
             # What the file system set aside for the first one's own blocks is free when they are on the disk.
             for time in 1 2; do cat /dev/zero >>"$DIR/m/filler" 2>/dev/null; sync -f "$DIR/m"; done
            ) | "$FERRY" write --spool "$DIR/m/s" \(option)
            """)
        let later = try await shell("rm \"$DIR/m/filler\"; \"$FERRY\" write --spool \"$DIR/m/s\" </dev/null")
        let compared = try await shell("\"$FERRY\" cat --spool \"$DIR/m/s\" | cmp - \"$DIR/stored\"")
        #expect(later.status == 0, "\(later.errors)")
        #expect(compared.status == 0, "\(compared.output) \(result.errors)")
        #expect(result.status == 75, "\(result.output) \(result.errors)")
        #expect(result.errors.contains("All 1000 events are stored, to line 1000 of standard input"), "\(result.errors)")
        #expect(!result.errors.contains("tail -n"))
        let report = "\"nextLine\":1001,\"published\":false,\"storedLines\":1000"
        #expect(result.output.contains(report) == !option.isEmpty, "\(result.output)")
    }

    @Test(
        "What cannot be published hides neither an interrupted input nor an invalid line",
        arguments: [("kill -TERM $pid", 130, "tail -n +1002"), ("exec 9>&-", 65, "All 1000 events are stored")])
    func notPublished(end: String, status: Int32, says: String) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let result = try await shell(
            """
            "$FERRY" init "$DIR/m/s" -q; mkfifo "$DIR/pipe"
            "$FERRY" write --spool "$DIR/m/s" --skip-invalid --json "$DIR/pipe" & pid=$!
            exec 9>"$DIR/pipe"
            (echo bad; head -n 1000 "$DIR/in" | tee "$DIR/stored") >&9
            until [ "$(cat "$DIR"/m/s/.*.open 2>/dev/null | wc -c)" = "$(wc -c <"$DIR/stored")" ]; do sleep 0.02; done
            cat /dev/zero >"$DIR/m/filler" 2>/dev/null
            \(end); wait $pid
            """)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains(says), "\(result.errors)")
        #expect(
            result.output.contains("\"invalid\":1,\"nextLine\":1002,\"published\":false,\"storedLines\":1001"), "\(result.output)"
        )
    }

    @Test("Journals alone drain from a disk without a free block: each event once, in order", arguments: [0, 4, 12, 40])
    func journalsAlone(free: Int) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let names = (0..<4).map { Segments.name(second: $0).journalName }
        let filled = try await shell(
            """
            "$FERRY" init "$DIR/m/s" -q
            sed -n 1,900p "$DIR/in" >"$DIR/m/s/\(names[0])"
            sed -n 901,1000p "$DIR/in" >"$DIR/m/s/\(names[1])"
            sed -n 1001,2400p "$DIR/in" >"$DIR/m/s/\(names[2])"
            (sed -n 2401,3000p "$DIR/in"; printf '{"torn":') >"$DIR/m/s/\(names[3])"
            head -c \(free * 1024) /dev/zero >"$DIR/m/keep"; cat /dev/zero >"$DIR/m/filler"; rm "$DIR/m/keep"
            """)
        #expect(filled.errors.contains("No space left"), "\(filled.errors)")
        let hub = try await Hub(folder("hub"))
        let upload = try await shell("\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(hub.url)")
        await hub.stop()
        #expect(upload.status == 0, "\(upload.output) \(upload.errors)")
        let compared = try await shell(
            "head -n 3000 \"$DIR/in\" >\"$DIR/stored\"; \"$FERRY\" cat --spool \"$DIR/hub\" | cmp - \"$DIR/stored\"")
        #expect(compared.status == 0, "\(compared.output) \(compared.errors)")
        #expect(try Spool.open(folder("m/s"), access: .read).scan().openJournals == 0)
        let reserve = try await shell("stat -c %s \"$DIR/m/s/.ferry/reserve\"")
        #expect(reserve.output == "32768\n", "\(reserve.errors)")
    }

    @Test(
        "Nothing of a journal is freed before the member that holds it is forced to the disk, and its file's name",
        .needs("strace"))
    func forcedBeforeFreed() async throws {
        let strace = try #require(Program.find("strace"))
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let name = Segments.name().journalName
        let sealed = try await shell(
            """
            "$FERRY" init "$DIR/m/s" -q && sed -n 1,2400p "$DIR/in" >"$DIR/m/s/\(name)"; cat /dev/zero 2>/dev/null >"$DIR/m/filler"
            \(strace) -f -y -qq -o "$DIR/calls" -e trace=fsync,fdatasync,fallocate "$FERRY" write --spool "$DIR/m/s" </dev/null
            """)
        #expect(sealed.status == 0, "\(sealed.errors)")
        let calls = try String(contentsOfFile: folder("calls"), encoding: .utf8).split(separator: "\n")
        let freed = calls.indices.filter { calls[$0].contains("FALLOC_FL_PUNCH_HOLE") }
        #expect(!freed.isEmpty)
        #expect(freed.allSatisfy { calls[$0 - 1].contains("fdatasync(") && calls[$0 - 1].contains(".sealing>") })
        #expect(calls[..<(freed.first ?? 0)].contains { $0.contains("fsync(") && $0.contains("/m/s>") })
    }

    @Test("Killed at any forced write while it seals piece by piece, it goes on there: each event once", .needs("strace"))
    func killedWhileSealing() async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let name = Segments.name().journalName
        let filled = try await shell(
            """
            "$FERRY" init "$DIR/m/s" -q && sed -n 1,2400p "$DIR/in" >"$DIR/m/s/\(name)"; cat /dev/zero >"$DIR/m/filler"
            """)
        #expect(filled.errors.contains("No space left"), "\(filled.errors)")
        var kills = 0
        for call in ["fdatasync", "fallocate", "ftruncate", "unlinkat", "renameat2", "fsync"] {
            let run = try await shell(
                "strace -f -qq -o /dev/null -e inject=\(call):signal=SIGKILL:when=3 \"$FERRY\" write --spool \"$DIR/m/s\" </dev/null"
            )
            if run.status != 0 { kills += 1 }
        }
        #expect(kills > 0)
        let last = try await shell("\"$FERRY\" write --spool \"$DIR/m/s\" </dev/null")
        #expect(last.status == 0, "\(last.errors)")
        let compared = try await shell(
            "head -n 2400 \"$DIR/in\" >\"$DIR/stored\"; \"$FERRY\" cat --spool \"$DIR/m/s\" | cmp - \"$DIR/stored\"")
        #expect(compared.status == 0, "\(compared.output) \(compared.errors)")
    }

    @Test("Segments that would have to be split, and cannot be for want of room, hold nothing else up", arguments: [true, false])
    func splitting(_ deletes: Bool) async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        // The large ones leave first. Ferry's own receiver answers 413 to them.
        let written = try await shell(
            """
            head -n 1500 "$DIR/in" | "$FERRY" write --create --spool "$DIR/m/s" --roll-events 500 --priority 0 &&
                sed -n 1501,2100p "$DIR/in" | "$FERRY" write --spool "$DIR/m/s" --roll-events 30 --priority 5
            cat /dev/zero >"$DIR/m/filler"
            """)
        #expect(written.output.contains("wrote 600 events"), "\(written.errors)")
        let hub = try await Hub(folder("hub"), ["--max-body", "8kB"])
        let upload = "\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(hub.url) --retry-now \(deletes ? "--delete-sent" : "")"
        let first = try await shell(upload)
        #expect(try Spool.open(hub.spool, access: .read).pending().count >= 20, "\(first.output) \(first.errors)")
        // What has left made room.
        var last = first
        for _ in 0..<6 where last.status != 0 { last = try await shell(upload) }
        await hub.stop()
        #expect(last.status == 0, "\(last.output) \(last.errors)")
        let compared = try await shell(
            "head -n 2100 \"$DIR/in\" | sort >\"$DIR/stored\"; \"$FERRY\" cat --spool \"$DIR/hub\" | sort | cmp - \"$DIR/stored\""
        )
        #expect(compared.status == 0, "\(compared.output) \(compared.errors)")
    }

    /// Fills a small disk with a spool's segments of thirty lines and one file that takes the rest, and begins a server that gives the first of them
    /// an answer of their own.
    ///
    /// - Parameter reserve: What becomes of the reserve: a line of shell.
    private func fill(
        _ kilobytes: Int, lines: Int, reserve: String, bad count: Int, answer status: Int
    ) async throws -> (names: [String], bad: Set<String>, upload: String, server: ScriptedServer)? {
        try await makeInput()
        guard folder.mount("size=\(kilobytes)k") else { return nil }
        _ = try await shell(
            """
            head -n \(lines) "$DIR/in" | "$FERRY" write --create --spool "$DIR/m/s" --roll-events 30
            \(reserve)
            cat /dev/zero >"$DIR/m/filler"
            """)
        let names = try pending()
        let bad = Set(names.prefix(count))
        let server = ScriptedServer.answering { request in
            // Whole, or lines of several.
            let names = (request["ferry-segment"] ?? "").split(separator: ",").map { $0.prefix { $0 != ";" } }
            let isBad = names.contains { bad.contains(String($0.drop { $0 == " " })) }
            return ScriptedServer.answer(isBad ? status : 200)
        }
        return (names, bad, "\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(server.url)", server)
    }

    /// The names of the disk's pending segments.
    private func pending() throws -> [String] { try Spool.open(folder("m/s"), access: .read).pending().sorted() }

    @Test(
        "On a disk without a free block segments that fail, whose sidecars find no room, hold nothing else up",
        arguments: [true, false])
    func failing(_ hasReserve: Bool) async throws {
        let reserve = hasReserve ? "" : "truncate -s 8k \"$DIR/m/s/.ferry/reserve\""
        // As many as are sent at once: any probe passes.
        guard let disk = try await fill(400, lines: 600, reserve: reserve, bad: 3, answer: 500) else { return }
        let pass = try await shell(disk.upload)
        #expect(pass.status == 75, "\(pass.output) \(pass.errors)")
        #expect(try pending() == disk.bad.sorted(), "\(pass.output) \(pass.errors)")
    }

    @Test(
        "On a disk without a free block many that fail, with one of them as a probe, hold the others up for some passes at most")
    func manyFailing() async throws {
        guard let disk = try await fill(400, lines: 600, reserve: "", bad: 8, answer: 500) else { return }
        var passes = ""
        for _ in 0..<20 where try pending().count > disk.bad.count {
            let pass = try await shell("\(disk.upload) --retry-now")
            passes += "\(pass.status) \(pass.errors)"
        }
        #expect(try pending() == disk.bad.sorted(), "\(passes)")
    }

    @Test(
        "On a disk without a free block segments that are refused hold nothing else up, and are rejected",
        arguments: [true, false])
    func refused(_ hasReserve: Bool) async throws {
        let reserve = hasReserve ? "" : "rm \"$DIR/m/s/.ferry/reserve\""
        guard let disk = try await fill(600, lines: 1500, reserve: reserve, bad: 12, answer: 400) else { return }
        var last = try await shell(disk.upload)
        for _ in 0..<10 where ![0, 65].contains(last.status) { last = try await shell(disk.upload) }
        let pending = try pending()
        let rejected = try Spool.open(folder("m/s"), access: .read).rejected.segments().map(\.name)
        if hasReserve {
            #expect(pending.isEmpty, "\(last.output) \(last.errors)")
            #expect(Set(rejected) == disk.bad)
        } else {
            // Nothing may be sent whose ending cannot be written down.
            #expect(last.status == 73)
            #expect(pending.count == disk.names.count, "\(last.output) \(last.errors)")
        }
    }

    @Test("On a disk without a free block segments in parts that are refused take no room from those that can be sent")
    func refusedInParts() async throws {
        guard let disk = try await fill(600, lines: 1500, reserve: "", bad: 20, answer: 400) else { return }
        var (passes, left) = ("", disk.names)
        for _ in 0..<10 where !Set(left).isSubset(of: disk.bad) {
            let pass = try await shell("\(disk.upload) --body json-array --request-events 20 --retry-now")
            passes += "\(pass.status) \(pass.errors)"
            left = try pending()
        }
        #expect(Set(left).isSubset(of: disk.bad), "\(passes)")
    }

    @Test("On a disk without a free block it is kept how much was delivered of what is rejected then")
    func deliveredOfRejected() async throws {
        guard let disk = try await fill(400, lines: 900, reserve: "", bad: 0, answer: 400) else {
            return
        }
        // The second part of each.
        let server = ScriptedServer.answering { request in
            ScriptedServer.answer((request["ferry-segment"] ?? "").contains("lines=\"21-30\"") ? 400 : 200)
        }
        let upload = disk.upload.replacingOccurrences(of: disk.server.url, with: server.url)
        let pass = try await shell("\(upload) --body json-array --request-events 20 --order strict --parallel 1")
        let rejected = try Spool.open(folder("m/s"), access: .read).rejected.segments()
        #expect(!rejected.isEmpty, "\(pass.status) \(pass.output) \(pass.errors)")
        #expect(rejected.allSatisfy { $0.reason?.delivered?.lines == 20 }, "\(rejected.map(\.reason))")
    }

    @Test("On a disk with room for no new file delivered segments give way to those that go out in parts")
    func noFilesInParts() async throws {
        try await makeInput()
        guard folder.mount("size=2m,nr_inodes=60") else { return }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let result = try await shell(
            """
            head -n 90 "$DIR/in" | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 30
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(server.url)
            sed -n 91,390p "$DIR/in" | "$FERRY" write -q --spool "$DIR/m/s" --roll-events 30
            i=0
            while touch "$DIR/m/filler.$i" 2>/dev/null; do i=$((i + 1)); done
            "$FERRY" upload --spool "$DIR/m/s" --to \(server.url) --body json-array --request-events 20
            """)
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        #expect(try pending().isEmpty)
    }

    @Test("On a disk with room for no new file delivered segments give way to rejected/", arguments: ["", "--order strict"])
    func noFilesForRejected(order: String) async throws {
        try await makeInput()
        guard folder.mount("size=2m,nr_inodes=60") else { return }
        let server = ScriptedServer.answering { ScriptedServer.answer($0.line.contains("/refused") ? 400 : 200) }
        let result = try await shell(
            """
            head -n 300 "$DIR/in" | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 30
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(server.url)
            sed -n 301,390p "$DIR/in" | "$FERRY" write -q --spool "$DIR/m/s" --roll-events 30
            i=0
            while touch "$DIR/m/filler.$i" 2>/dev/null; do i=$((i + 1)); done
            "$FERRY" upload --spool "$DIR/m/s" --to \(server.url)/refused \(order)
            """)
        #expect(result.status == 65, "\(result.output) \(result.errors)")
        #expect(try pending().isEmpty)
        #expect(try Spool.open(folder("m/s"), access: .read).rejected.segments().count == 3)
    }

    @Test("On a disk with room for no new file an empty sent/ gives way to what a writer stores")
    func emptySentGivesWay() async throws {
        try await makeInput()
        guard folder.mount("size=2m,nr_inodes=40") else { return }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let result = try await shell(
            """
            head -n 50 "$DIR/in" | "$FERRY" write -q --create --spool "$DIR/m/s"
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(server.url)
            rm "$DIR/m/s/sent"/*/*
            i=0
            while touch "$DIR/m/filler.$i" 2>/dev/null; do i=$((i + 1)); done
            head -n 50 "$DIR/in" | "$FERRY" write -q --spool "$DIR/m/s"
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try pending().count == 1)
    }

    @Test(
        "A disk with room for no new file drains: what is published, and what is in journals; each event once",
        arguments: [10, 11, 12, 13, 14], ["", "--delete-sent"])
    func noFiles(inodes: Int, option: String) async throws {
        try await makeInput()
        guard folder.mount("size=2m,nr_inodes=\(inodes)") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            next=1
            for round in $(seq 40); do
                head -n 400 "$DIR/in" | tail -n +$next |
                    "$FERRY" write --create --spool "$DIR/m/s" --roll-events 50 --first-line $next --json >"$DIR/out" 2>"$DIR/errors"
                status=$?
                "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) \(option) || echo "upload $?"
                case $status in
                    0 | 75) break ;;
                    73) next=$(sed -n 's/.*"nextLine":\\([0-9]*\\).*/\\1/p' "$DIR/out") ;;
                    *) echo "write $status: $(cat "$DIR/errors")" ;;
                esac
            done
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) \(option) || echo "upload $?"
            echo "last $status"
            """)
        await hub.stop()
        #expect(["last 0\n", "last 75\n"].contains(result.output), "\(result.output) \(result.errors)")
        let compared = try await shell(
            "head -n 400 \"$DIR/in\" | sort >\"$DIR/stored\"; \"$FERRY\" cat --spool \"$DIR/hub\" | sort | cmp - \"$DIR/stored\"")
        #expect(compared.status == 0, "\(compared.output) \(compared.errors)")
    }

    @Test(
        "With room for a few new files, an upload that keeps what is delivered sends all and ends it, or sends nothing and says why",
        arguments: 0..<6)
    func fewFiles(left: Int) async throws {
        guard folder.mount("size=2m,nr_inodes=40") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            for n in 1 2 3; do echo "{\\"n\\":$n}"; done | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 1
            for n in $(seq 60); do touch "$DIR/m/filler$n" || break; done 2>/dev/null
            for n in $(seq \(left)); do rm "$DIR/m/filler$n"; done
            "$FERRY" upload -q --keep-sent --spool "$DIR/m/s" --to \(hub.url); echo $?
            "$FERRY" list --spool "$DIR/m/s" | wc -l
            "$FERRY" cat --spool "$DIR/hub" | wc -l
            "$FERRY" upload -q --delete-sent --spool "$DIR/m/s" --to \(hub.url); echo $?
            "$FERRY" cat --spool "$DIR/hub" | wc -l
            """)
        await hub.stop()
        #expect(["0\n0\n3\n0\n3\n", "73\n3\n0\n0\n3\n"].contains(result.output), "\(result.output) \(result.errors)")
        #expect(result.errors.contains("remove some files") == result.output.hasPrefix("73"), "\(result.errors)")
    }

    @Test("A replay whose staging has room for some segments at once sends them part by part")
    func replayInParts() async throws {
        try await makeInput()
        guard folder.mount("size=150k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            "$FERRY" write -q --create --spool "$DIR/s" --roll-events 400 "$DIR/in" && mkdir "$DIR/archive" && mv "$DIR"/s/*.gz "$DIR/archive"
            "$FERRY" replay -q "$DIR/archive" --state "$DIR/m" --to \(hub.url); echo $?
            "$FERRY" cat --spool "$DIR/hub" | sort >"$DIR/got"; sort "$DIR/in" | cmp - "$DIR/got" && echo same
            """)
        await hub.stop()
        #expect(result.output == "0\nsame\n", "\(result.output) \(result.errors)")
    }

    @Test("A replay whose staging has no room for one segment says so, and goes on when it has")
    func replayWithoutRoom() async throws {
        try await makeInput()
        guard folder.mount("size=100k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            "$FERRY" write -q --create --spool "$DIR/s" "$DIR/in" && mkdir "$DIR/archive" && mv "$DIR"/s/*.gz "$DIR/archive"
            "$FERRY" replay -q "$DIR/archive" --state "$DIR/m" --to \(hub.url) 2>"$DIR/errors"; echo $?
            wc -l <"$DIR/errors"; mount -o remount,size=4m "$DIR/m"
            "$FERRY" replay -q --state "$DIR/m" --resume "$(sed -n 's/.*--resume \\([a-z0-9]*\\) .*/\\1/p' "$DIR/errors")"; echo $?
            "$FERRY" cat --spool "$DIR/hub" | sort >"$DIR/got"; sort "$DIR/in" | cmp - "$DIR/got" && echo same
            cat "$DIR/errors" >&2
            """)
        await hub.stop()
        #expect(result.output == "73\n1\n0\nsame\n", "\(result.output) \(result.errors)")
        #expect(result.errors.contains("free some space"), "\(result.errors)")
    }

    @Test("What is tracked on a full disk has delivered segments make room, soon")
    func tracked() async throws {
        try await makeInput()
        guard folder.mount("size=400k") else { return }
        let hub = try await Hub(folder("hub"))
        let prepared = try await shell(
            """
            "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 300 "$DIR/in" && "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url)
            cat /dev/zero >"$DIR/m/filler"; ls "$DIR"/m/s/sent/* | wc -l
            """)
        await hub.stop()
        #expect(prepared.output == "14\n", "\(prepared.errors)")
        let made = Mutex(0)
        var configuration = TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.limits = .none
        configuration.onWarning = { if case .madeRoom = $0 { made.withLock { $0 += 1 } } }
        let tracker = try EventTracker(spool: folder("m/s"), configuration: configuration)
        var refusals = 0
        try await eventually("an event is stored") {
            do { try tracker.track("tracked", properties: ["text": .string(String(repeating: "x", count: 9000))]) } catch {
                refusals += 1
                return false
            }
            return true
        }
        try tracker.close()
        #expect(refusals > 0)
        #expect(made.withLock(\.self) > 0)
        #expect(try Spool.open(folder("m/s"), access: .read).events(in: [.pending]).count == 1)
    }

    @Test("A tracker that sends by itself drains a full disk, journals alone too: each event once", arguments: [true, false])
    func drainsItself(hasPublished: Bool) async throws {
        guard folder.mount("size=300k") else { return }
        let hub = try await Hub(folder("hub"))
        var configuration = TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.sealsOnTermination = false
        configuration.limits = .none
        configuration.onWarning = { _ in }
        configuration.batch.events = .max
        let tracker = try EventTracker(spool: folder("m/s"), configuration: configuration)
        var options = UploadOptions(destination: try DestinationURL(hub.url))
        options.sentGivesWay = true
        let delivery = try TrackerDelivery(tracker, options)
        var (stored, refused) = (0, 0)
        while refused < 30, stored < 2000 {
            let text = try Segments.noise(100).map { String($0, radix: 16) }.joined()
            let priority: Priority = stored.isMultiple(of: 2) ? .normal : .bulk
            do {
                try tracker.track("tracked", properties: ["n": .int(stored), "text": .string(text)], priority: priority)
                stored += 1
                if hasPublished, stored == 100 { try tracker.flushAndWait() }
            } catch {
                refused += 1
            }
        }
        #expect(refused == 30)
        _ = try await shell("cat /dev/zero >\"$DIR/m/filler\"")
        #expect(await delivery.flush(deadline: .seconds(60)) == .sent(more: false))
        await hub.stop()
        let numbers = try Spool.open(hub.spool, access: .read).events(in: [.pending]).map {
            $0.firstMatch(of: #/"n":([0-9]+)/#).flatMap { Int($0.1) }
        }
        #expect(numbers.compactMap(\.self).sorted() == Array(0..<stored))
        // One that was begun for an event that found no room is empty, and the tracker goes on in it.
        #expect(try await shell("find \"$DIR/m/s\" -name '*.open' -size +0").output == "")
        // What is delivered makes room for it, soon.
        try await eventually("there is room") { (try? tracker.track("goes on")) != nil }
        try tracker.close()
    }

    @Test("However often a tracker is flushed on a full disk, it keeps no more journals open than there are priorities")
    func flushedOften() async throws {
        guard folder.mount("size=200k") else { return }
        var configuration = TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.sealsOnTermination = false
        configuration.onWarning = { _ in }
        let path = folder("m/s")
        let tracker = try EventTracker(spool: path, configuration: configuration)
        _ = try await shell("cat /dev/zero >\"$DIR/m/filler\"")
        var refusals = 0
        for _ in 0..<30 {
            for priority in [Priority.critical, .normal] {
                do { try tracker.track("tracked", priority: priority) } catch { refusals += 1 }
            }
            try? tracker.flushAndWait()
        }
        #expect(refusals > 30)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count { $0.hasSuffix(".open") } <= 2)
        try? tracker.close()
    }

    @Test("A file size limit, which no room on the disk can mend, deletes nothing of sent/")
    func fileSizeLimit() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("1\n"))
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            "$FERRY" upload -q --spool "$DIR/spool" --to \(hub.url) && echo 2 | "$FERRY" write -q --spool "$DIR/spool"
            ledger="$DIR/spool/.ferry/ledger-$(date -u +%Y%m%d).jsonl"
            head -c 8100 /dev/zero | tr '\\0' ' ' >"$ledger"; echo >>"$ledger"
            (ulimit -f 16; trap '' XFSZ; exec "$FERRY" upload -q --spool "$DIR/spool" --to \(hub.url)); echo "status $?"
            ls "$DIR"/spool/sent/* | wc -l; "$FERRY" cat --spool "$DIR/hub" | wc -l
            """)
        await hub.stop()
        // What cannot be written down is not sent.
        #expect(result.output == "status 73\n1\n1\n", "\(result.output) \(result.errors)")
    }

    @Test(
        "Joined requests of many small segments drain it: each is sent once, also where the reserve is too small for a batch's lines",
        arguments: ["", "--delete-sent"])
    func drainsJoined(_ option: String) async throws {
        guard folder.mount("size=3000k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            seq 400 | sed 's/.*/{"n":&}/' | "$FERRY" write --quiet --create --spool "$DIR/m/s" --roll-events 1
            dd if=/dev/zero of="$DIR/m/fill" bs=1k 2>/dev/null
            dd if=/dev/zero of="$DIR/m/more" bs=1 count=5000 2>/dev/null
            "$FERRY" upload --spool "$DIR/m/s" --to \(hub.url) --coalesce 1MiB \(option) >"$DIR/said"; echo "status $?"
            "$FERRY" list --spool "$DIR/m/s" | wc -l; "$FERRY" cat --spool "$DIR/hub" | wc -l; grep -c knew "$DIR/said"
            """)
        await hub.stop()
        #expect(result.output == "status 0\n0\n400\n0\n", "\(result.output) \(result.errors)")
    }

    @Test("A salvage that finds no room, in part, does not have the events come back twice", arguments: 0..<8)
    func salvage(pages: Int) async throws {
        guard folder.mount("size=300k") else { return }
        let made = try await shell("\"$FERRY\" init \"$DIR/m/s\"")
        #expect(made.status == 0, "\(made.errors)")
        do {
            let spool = try Spool.open(folder("m/s"), access: .write)
            let name = try spool.put(Segments.gzip(Segments.lines(0..<20)))
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "the claim") }
            let reason = RejectionReason(at: .now(), kind: "status", message: "HTTP 400", attempts: 1)
            let entry = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .rejected(reason), entry)])
        }
        let result = try await shell(
            """
            rm -f "$DIR/m/s/.ferry/reserve"
            for n in $(seq \(pages)); do head -c 4096 /dev/zero >"$DIR/m/page$n"; done
            dd if=/dev/zero of="$DIR/m/fill" bs=1k 2>/dev/null
            dd if=/dev/zero of="$DIR/m/more" bs=1 count=5000 2>/dev/null
            for n in $(seq \(pages)); do rm "$DIR/m/page$n"; done
            "$FERRY" retry --salvage --all --spool "$DIR/m/s"; echo "salvage $?"
            rm "$DIR/m/fill"
            "$FERRY" retry --all --spool "$DIR/m/s"; echo "retry $?"
            """)
        let events = try Spool.open(folder("m/s"), access: .read).events(in: [.pending])
        #expect(events.count == 20, "\(result.output) \(result.errors)")
        #expect(result.output.contains("retry 0"), "\(result.output) \(result.errors)")
    }

    @Test("A line of the ledger that does not fit is cut off again")
    func ledger() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"))
        let result = try await shell(
            """
            ledger="$DIR/spool/.ferry/ledger-$(date -u +%Y%m%d).jsonl"
            head -c 8100 /dev/zero | tr '\\0' ' ' >"$ledger"; echo >>"$ledger"
            (ulimit -f 8; trap '' XFSZ; exec "$FERRY" prune --spool "$DIR/spool" --max-spool-bytes 1)
            echo "status $?"; wc -c <"$ledger"
            """)
        let size = result.output.split(separator: "\n").last.map(String.init)
        #expect(result.output.contains("status 73"), "\(result.output) \(result.errors)")
        #expect(size == "8101")
        #expect(try spool.pending() == [name])
    }
}
