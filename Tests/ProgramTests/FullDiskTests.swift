import FerrySpool
import Foundation
import TestSupport
import Testing

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

    private func mount(_ size: Int) async throws -> Bool {
        let mounted = try await shell("mkdir -p \"$DIR/m\" && mount -t tmpfs -o size=\(size)k none \"$DIR/m\"")
        if mounted.status != 0 { print("NOT TESTED: mounting a tmpfs is not allowed here: \(mounted.errors)") }
        return mounted.status == 0
    }

    @Test("A writer says up to which line its input is stored: going on behind it loses none and doubles none, at twenty sizes")
    func exactLine() async throws {
        try await makeInput()
        for step in 0..<20 {
            let size = 44 + step * 20
            guard try await mount(size) else { return }
            // Files and pipes in turn.
            let input = step.isMultiple(of: 2) ? "\"$DIR/in\"" : "< \"$DIR/in\""
            let written = try await shell("\"$FERRY\" write --create --spool \"$DIR/m/s\" --roll-events 300 \(input)")
            if written.status != 0 {
                #expect(written.status == 73, "\(size) KiB: \(written.errors)")
                let isAllStored = written.errors.contains("All events that were read are stored")
                let line = written.errors.firstMatch(of: #/line ([0-9]+):/#).flatMap { Int($0.1) } ?? 1
                let next = isAllStored ? Self.lines + 1 : line
                let rest = try await shell(
                    "mount -o remount,size=16m \"$DIR/m\" && tail -n +\(next) \"$DIR/in\" | \"$FERRY\" write --create --spool \"$DIR/m/s\""
                )
                #expect(rest.status == 0, "\(size) KiB: \(rest.errors)")
            }
            let compared = try await shell("\"$FERRY\" cat --spool \"$DIR/m/s\" | cmp - \"$DIR/in\"")
            #expect(compared.status == 0, "\(size) KiB: \(compared.output) \(compared.errors) \(written.errors)")
            #expect(try await shell("umount \"$DIR/m\"").status == 0)
        }
    }

    @Test(
        "It drains: what is published is sent, then the journal that found no room is published and sent",
        arguments: ["", "--delete-sent"])
    func drains(_ option: String) async throws {
        try await makeInput()
        guard try await mount(400) else { return }
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
        #expect(try await shell("umount \"$DIR/m\"").status == 0)
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
