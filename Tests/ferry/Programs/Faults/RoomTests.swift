import FerrySpool
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("What makes room on a full disk, and what finds some")
struct RoomTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    private func mount(_ options: String) -> Bool {
        mkdir(folder("stick"), 0o755)
        return folder.mount(options)
    }

    @Test("What a relay has delivered makes room for what comes, over HTTP and by stick", arguments: ["http", "stick"])
    func givesWay(road: String) async throws {
        guard mount("size=800k") else { return }
        let end = try await Hub(folder("end"))
        let relay = try await Hub(folder("m/relay"))
        for round in 0..<5 {
            let written = try await shell(
                """
                head -c 150000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | sed 's/.*/{"x":"&"}/' |
                    "$FERRY" write -q --create --spool "$DIR/edge"
                """)
            #expect(written.status == 0, "\(written.errors)")
            if road == "http" {
                try await eventually("round \(round) arrives: \(relay.running.errors)") {
                    try await shell(
                        "\"$FERRY\" upload -q --retry-now --spool \"$DIR/edge\" --to \(relay.url)"
                    ).status == 0
                }
            } else {
                let carried = try await shell(
                    """
                    set -e; cd "$DIR"; rm -rf stick/*; "$FERRY" export -q stick --spool edge; "$FERRY" import stick --spool m/relay
                    "$FERRY" acknowledge -q stick/ferry-receipt* --spool edge
                    """)
                #expect(carried.status == 0, "round \(round): \(carried.errors)")
            }
            let sent = try await shell(
                "\"$FERRY\" upload -q --retry-now --spool \"$DIR/m/relay\" --to \(end.url)")
            #expect(sent.status == 0, "\(sent.errors)")
        }
        await relay.stop()
        await end.stop()
        #expect(try Spool.open(folder("end"), access: .read).pending().count == 5)
    }

    @Test("A paused spool on a full disk can be told to go on, and drains; a rejected segment can be brought back")
    func resume() async throws {
        guard mount("size=600k") else { return }
        let end = try await Hub(folder("end"))
        let filled = try await shell(
            """
            set -e; seq 2000 | sed 's/.*/{"n":&}/' | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 500
            mkdir "$DIR/m/s/rejected"; mv "$(ls "$DIR"/m/s/*.gz | head -1)" "$DIR/m/s/rejected/"
            "$FERRY" pause --spool "$DIR/m/s"
            dd if=/dev/zero of="$DIR/m/fill" bs=1k 2>/dev/null || true
            """)
        #expect(filled.status == 0, "\(filled.errors)")
        let resumed = try await shell("\"$FERRY\" resume --spool \"$DIR/m/s\" && \"$FERRY\" retry --all --spool \"$DIR/m/s\"")
        #expect(resumed.status == 0, "\(resumed.errors)")
        let sent = try await shell("\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(end.url)")
        #expect(sent.status == 0, "\(sent.errors)")
        await end.stop()
        #expect(try Spool.open(folder("end"), access: .read).events(in: [.pending]).count == 2000)
    }

    @Test(
        "An import on a disk that is full of delivered segments takes all of a bundle, in parts and with few open files",
        arguments: [1024, 60])
    func fullImport(files: Int) async throws {
        guard mount("size=900k") else { return }
        let prepared = try await shell(
            """
            set -e; cd "$DIR"
            head -c 420000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | sed 's/.*/{"x":"&"}/' |
                "$FERRY" write -q --create --spool m/hub --roll-events 500
            "$FERRY" export -q stick --spool m/hub; "$FERRY" import -q stick --spool end
            "$FERRY" acknowledge -q stick/ferry-receipt* --spool m/hub; rm -r stick/*; touch m/hub/.ferry/sent-gives-way
            head -c 200000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | sed 's/.*/{"x":"&"}/' |
                "$FERRY" write -q --create --spool edge --roll-events 100
            "$FERRY" export -q stick --spool edge; dd if=/dev/zero of=m/fill bs=1k 2>/dev/null || true
            """)
        #expect(prepared.status == 0, "\(prepared.errors)")
        let taken = try await shell(
            """
            set -e; cd "$DIR"; ulimit -n \(files); "$FERRY" import stick --spool m/hub --receipts .
            "$FERRY" acknowledge ferry-receipt* --spool edge
            """)
        #expect(taken.status == 0, "\(taken.errors)")
        let (hub, edge) = try (Spool.open(folder("m/hub"), access: .read), Spool.open(folder("edge"), access: .read))
        #expect(try edge.pending().isEmpty)
        #expect(try hub.events(in: [.pending]).count == 6250)
    }

    @Test("A bundle that is larger than the room is taken in parts, as often as there is some again")
    func parts() async throws {
        guard mount("size=1100k") else { return }
        let end = try await Hub(folder("end"))
        let exported = try await shell(
            """
            set -e; cd "$DIR"
            head -c 2000000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | sed 's/.*/{"x":"&"}/' |
                "$FERRY" write -q --create --spool edge --roll-events 1000
            "$FERRY" init -q m/hub; "$FERRY" export -q stick --spool edge
            """)
        #expect(exported.status == 0, "\(exported.errors)")
        var statuses: [Int32] = []
        for _ in 0..<8 where statuses.last != 0 {
            statuses.append(try await shell("cd \"$DIR\" && \"$FERRY\" import stick --spool m/hub --receipts .").status)
            let sent = try await shell(
                """
                "$FERRY" upload -q --retry-now --delete-sent --spool "$DIR/m/hub" --to \(end.url)
                """)
            #expect(sent.status == 0, "\(sent.errors)")
        }
        #expect(statuses.last == 0, "\(statuses)")
        #expect(statuses.contains(73), "\(statuses)")
        await end.stop()
        #expect(try Spool.open(folder("end"), access: .read).events(in: [.pending]).count == 62_500)
    }

    @Test("Of many small segments as many are taken as the disk has blocks for, but for some of the log's")
    func smallSegments() async throws {
        guard mount("size=400k") else { return }
        let taken = try await shell(
            """
            cd "$DIR"; seq 300 | sed 's/.*/{"n":&}/' | "$FERRY" write -q --create --spool edge --roll-events 1
            "$FERRY" init -q m/hub; "$FERRY" export -q stick --spool edge; "$FERRY" import -q stick --spool m/hub --receipts .
            ls m/hub/*.gz | wc -l
            """)
        #expect(Int(taken.output.split(separator: "\n").last ?? "") ?? 0 > 40, "\(taken.output) \(taken.errors)")
    }

    @Test("The note that delivered segments give way is no file that a journal has no room for")
    func note() async throws {
        guard folder.mount("size=2m,nr_inodes=20") else { return }
        let written = try await shell(
            """
            echo 1 | "$FERRY" write -q --create --spool "$DIR/m/s"; rm "$DIR"/m/s/*.gz; touch "$DIR/m/s/.ferry/sent-gives-way"
            for i in $(seq 20); do touch "$DIR/m/f$i" || break; done 2>/dev/null
            echo 2 | "$FERRY" write --spool "$DIR/m/s"
            """)
        #expect([0, 75].contains(written.status), "\(written.errors)")
        let hub = try await Hub(folder("hub"))
        _ = try await shell("\"$FERRY\" upload --spool \"$DIR/m/s\" --to \(hub.url)")
        await hub.stop()
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]) == ["2"])
    }

    @Test("What comes in takes no room from the ledger's reserve, and gives it back its part first")
    func reserve() async throws {
        guard mount("size=600k") else { return }
        let relay = try Spool.open(folder("m/relay"), access: .create)
        let filled = try await shell(
            """
            rm "$DIR/m/relay/.ferry/reserve"; head -c 16384 /dev/zero >"$DIR/m/some"
            head -c 1000000 /dev/zero >"$DIR/m/most"; truncate -s -12288 "$DIR/m/most"
            """)
        #expect(filled.status == 0)
        #expect(throws: FileError.self) { try relay.arrivals.begin() }
        #expect(try await shell("echo 1 | \"$FERRY\" write --spool \"$DIR/m/relay\"").status == 73)
        // What frees room for a part of it.
        #expect(try await shell("rm \"$DIR/m/some\"").status == 0)
        #expect(throws: FileError.self) { try relay.journals.open(Segments.name()) }
        let whole = try await shell(
            """
            cd "$DIR/m"; truncate -s -65536 most; echo 1 | "$FERRY" write -q --spool relay; stat -c %s relay/.ferry/reserve
            """)
        #expect(whole.output == "32768\n", "\(whole.errors)")
        #expect(try relay.pending().count == 1)
    }

    @Test("A reserve that became a hole when the spool was copied is filled again")
    func hole() async throws {
        let spool = try folder.spool()
        let result = try await shell(
            """
            cd "$DIR"; cp -a --sparse=always spool copy; stat -c %b copy/.ferry/reserve
            echo 1 | "$FERRY" write -q --spool copy; echo $(($(stat -c %b copy/.ferry/reserve) >= 64))
            """)
        #expect(result.output == "0\n1\n", "\(result.errors)")
        #expect(try spool.pending().isEmpty)
    }

    @Test("On a full disk nothing is sent that is to be kept: it would free nothing, and could be neither moved nor written down")
    func kept() async throws {
        let mounted = try await shell(
            """
            mkdir "$DIR/m" && truncate -s 16M "$DIR/disk" && mkfs.ext4 -q -m 0 "$DIR/disk" && mount -o loop "$DIR/disk" "$DIR/m"
            """)
        guard mounted.status == 0 else { return print("NOT TESTED: mounting a file is not allowed here: \(mounted.errors)") }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            seq 2000 | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 20
            for time in 1 2; do cat /dev/zero >>"$DIR/m/filler" 2>/dev/null; sync -f "$DIR/m"; done
            for time in 1 2 3; do "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) --keep-sent 30d; echo $?; done
            "$FERRY" list --spool "$DIR/m/s" | wc -l; "$FERRY" cat --spool "$DIR/hub" | wc -l
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) --delete-sent; echo $?
            "$FERRY" cat --spool "$DIR/hub" | wc -l; cat "$DIR"/m/s/.ferry/ledger-*.jsonl | wc -l
            """)
        await hub.stop()
        #expect(result.output == "73\n73\n73\n100\n0\n0\n2000\n100\n", "\(result.errors)")
        #expect(result.errors.contains("cannot keep what is delivered in"), "\(result.errors)")
    }

    @Test("On a full disk, what is rejected takes no more of the reserve than leaves the ledger its share: the rest drains")
    func rejectedOnFullDisk() async throws {
        guard mount("size=4000k") else { return }
        let server = ScriptedServer.answering { ScriptedServer.answer($0.line.contains("/3 ") ? 400 : 200) }
        let url = server.url + (server.url.hasSuffix("/") ? "{priority}" : "/{priority}")
        let result = try await shell(
            """
            seq 20 | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 1 --priority 3
            seq 3000 | "$FERRY" write -q --spool "$DIR/m/s" --roll-events 20
            cat /dev/zero >"$DIR/m/filler" 2>/dev/null
            for time in 1 2 3; do "$FERRY" upload -q --spool "$DIR/m/s" --to '\(url)' --delete-sent; done
            "$FERRY" list --spool "$DIR/m/s" | grep -c jsonl
            """)
        // What cannot be moved aside either stays, and is named.
        #expect((Int(result.output.split(separator: "\n").last ?? "") ?? 999) <= 20, "\(result.output) \(result.errors)")
    }

    @Test("Who holds the reserve's lock holds up nobody for long")
    func reserveHeld() async throws {
        guard mount("size=1000k") else { return }
        let hub = try await Hub(folder("hub"))
        let result = try await shell(
            """
            seq 100 | "$FERRY" write -q --create --spool "$DIR/m/s" --roll-events 20
            cat /dev/zero >"$DIR/m/filler" 2>/dev/null
            flock "$DIR/m/s/.ferry/reserve" sleep 300 & holder=$!
            "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url) --timeout 5s; echo "ended"
            pkill -P $holder; wait $holder; "$FERRY" upload -q --spool "$DIR/m/s" --to \(hub.url); echo $?
            """)
        await hub.stop()
        #expect(result.output.hasSuffix("ended\n0\n"), "\(result.output) \(result.errors)")
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]).count == 100)
    }

    @Test("A relay whose disk fills while the next hop is away drains when it is back")
    func relay() async throws {
        guard mount("size=800k") else { return }
        let relay = try await Hub(folder("m/relay"))
        let written = try await shell(
            """
            head -c 480000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | sed 's/.*/{"x":"&"}/' |
                "$FERRY" write -q --create --spool "$DIR/edge" --roll-events 20
            """)
        #expect(written.status == 0, "\(written.errors)")
        let edge = try Program().start(["run", "--spool", folder("edge"), "--to", relay.url] + Self.impatient)
        try await eventually("the disk is full: \(edge.errors)") { edge.errors.contains("507") }
        let end = try await Hub(folder("end"))
        let run = try Program().start(["run", "--spool", folder("m/relay"), "--to", end.url] + Self.impatient)
        try await eventually("all arrive: \(run.errors)") {
            try Spool.open(folder("end"), access: .read).pending().count == 750
        }
        for program in [edge, run] {
            program.send(SIGTERM)
            _ = await program.end()
        }
        await relay.stop()
        await end.stop()
    }

    private static let impatient = ["--set", "back-off.intervals=200ms", "--set", "back-off.reject-after=1000"]

    @Test("On a disk with room for no new file a receipt is taken, where delivered segments give way and sent/ is empty")
    func acknowledge() async throws {
        guard mount("size=4m,nr_inodes=40") else { return }
        let result = try await shell(
            """
            cd "$DIR"; seq 100 | sed 's/.*/{"n":&}/' | "$FERRY" write -q --create --spool m/s --roll-events 20
            mkdir -p m/s/sent; touch m/s/.ferry/sent-gives-way
            "$FERRY" export -q --spool m/s stick && "$FERRY" import -q stick --spool hub
            for i in $(seq 60); do touch m/f$i || break; done 2>/dev/null
            "$FERRY" acknowledge -q --spool m/s stick/ferry-receipt*; echo $?; ls m/s/*.gz 2>/dev/null | wc -l
            """)
        #expect(result.output == "0\n0\n", "\(result.errors)")
    }

    /// On a full XFS a new file needs more room than the reserve has, and a line in one that is there needs none.
    private static let noNewLedger = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <string.h>
        #include <stdlib.h>
        #include <unistd.h>
        int openat(int folder, const char *path, int flags, ...) {
            static int (*real)(int, const char *, int, ...);
            if (!real) real = dlsym(RTLD_NEXT, "openat");
            va_list arguments;
            va_start(arguments, flags);
            int mode = va_arg(arguments, int);
            va_end(arguments);
            int isFull = getenv("FULL") && (strstr(path, "probe") || strstr(path, "ferry-tmp") || !strcmp(path, "reserve"));
            // The inode of a file that was removed is there for another one.
            const char *reserve = getenv("UNTIL_GONE");
            isFull |= reserve && (strstr(path, "ferry-tmp") ? !access(reserve, F_OK) : !strcmp(path, "reserve"));
            if ((flags & O_CREAT) && (strstr(path, "ledger-") || isFull)) {
                if (real(folder, path, flags & ~O_CREAT) < 0) return errno = ENOSPC, -1;
            }
            return real(folder, path, flags, mode);
        }
        int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
        """

    @Test(
        "Where there is no room for the day's ledger the last one takes its lines, or the reserve becomes it; without both nothing is sent",
        .needs("cc"),
        arguments: ["echo '{}' > s/.ferry/ledger-20261101.jsonl", "export FULL=1", "rm s/.ferry/reserve; export FULL=1"])
    func noNewLedger(state: String) async throws {
        let library = try await Preload.build(Self.noNewLedger, in: folder)
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            requests.withLock { $0 += 1 }
            return ScriptedServer.answer(200)
        }
        let result = try await shell(
            """
            cd "$DIR"; seq 3 | "$FERRY" write -q --create --spool s --roll-events 1
            \(state)
            LD_PRELOAD="\(library)" "$FERRY" upload --spool s --delete-sent --to \(server.url)
            """)
        let hasRoom = !state.hasPrefix("rm")
        #expect(result.status == (hasRoom ? 0 : 73), "\(result.errors)")
        #expect(requests.withLock { $0 } == (hasRoom ? 3 : 0), "\(result.errors)")
        let spool = try folder.spool("s")
        #expect(try spool.ledger.totals()[.sent].segments == (hasRoom ? 3 : 0))
        #expect(try spool.pending().count == (hasRoom ? 0 : 3))
    }

    @Test(
        "Where there is room for no file but the reserve's, segments go out in parts: it becomes the first sidecar's",
        .needs("cc"))
    func sidecarForReserve() async throws {
        let library = try await Preload.build(Self.noNewLedger, in: folder)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let upload = "upload -q --body json-array --request-events 20 --parallel 1 --spool s --delete-sent --to \(server.url)"
        let result = try await shell(
            """
            cd "$DIR"; seq 300 | "$FERRY" write -q --create --spool s --roll-events 50
            echo '{}' > s/.ferry/ledger-20261101.jsonl
            UNTIL_GONE="$DIR/s/.ferry/reserve" LD_PRELOAD="\(library)" "$FERRY" \(upload); echo $?; ls s/*.gz 2>/dev/null | wc -l
            """)
        #expect(result.output == "0\n0\n", "\(result.errors)")
    }
}
