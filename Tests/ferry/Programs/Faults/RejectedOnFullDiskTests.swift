import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What is rejected on a full disk after a part of it was delivered")
struct RejectedOnFullDiskTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    /// What a destination does by and by.
    private enum Phase { case refusesAll, refusesTails, takesAll }

    @Test(
        "Its delivered events do not go out again: whatever was rejected before, and whatever the destination says",
        arguments: [(3, "no"), (3, String(repeating: "事件格式错误", count: 60)), (32, "no")])
    func isKept(before: Int, says: String) async throws {
        let mounted = try await shell(
            """
            mkdir "$DIR/m" && truncate -s 3M "$DIR/disk" && mkfs.ext4 -q -m 0 -b 4096 -O ^has_journal -N 2048 "$DIR/disk" &&
                mount -o loop "$DIR/disk" "$DIR/m"
            """)
        guard mounted.status == 0 else { return print("NOT TESTED: mounting a file is not allowed here: \(mounted.errors)") }
        let phase = Mutex(Phase.refusesAll)
        let events = Mutex<[String: Int]>([:])
        let server = ScriptedServer.answering { [folder] request in
            let isTail = (request["ferry-segment"] ?? "").contains("lines=\"15-20\"")
            switch phase.withLock(\.self) {
            case .refusesTails where !isTail, .takesAll:
                let path = folder("\(SegmentID.random())")
                guard let file = try? OpenFile.creatingNew(path), (try? file.write(request.body)) != nil,
                    let lines = try? Segments.lines(of: .reading(path))
                else { return ScriptedServer.answer(500) }
                let numbers = lines.joined(separator: ",").split { "[],".contains($0) }
                events.withLock { events in for number in numbers { events[String(number), default: 0] += 1 } }
                return ScriptedServer.answer(200)
            default: return ScriptedServer.answer(400, body: says)
            }
        }
        let upload = "\"$FERRY\" upload -q --retry-now --body json-array --request-events 7 --delete-sent --to \(server.url)"
        // Directories of ext4 have blocks of 4 KiB: 32 pairs of names leave room for one name more, and not for two.
        _ = try await shell(
            """
            for i in $(seq \(before)); do seq 1000 1019 | "$FERRY" write -q --create --spool "$DIR/m/s"; done; \(upload) --spool "$DIR/m/s"
            """)
        #expect(try Spool.open(folder("m/s"), access: .read).rejected.segments().count == before)
        phase.withLock { $0 = .refusesTails }
        let full = try await shell(
            """
            seq 20 | "$FERRY" write -q --spool "$DIR/m/s"; truncate -s 12288 "$DIR/m/s/.ferry/reserve"
            for time in 1 2; do cat /dev/zero >>"$DIR/m/filler" 2>/dev/null; sync -f "$DIR/m"; done
            \(upload) --spool "$DIR/m/s"; echo $?
            """)
        #expect(full.output == "65\n", "\(full.errors)")
        #expect(events.withLock(\.count) == 14)
        phase.withLock { $0 = .takesAll }
        let room = try await shell(
            """
            rm "$DIR/m/filler"; "$FERRY" retry -q --all --spool "$DIR/m/s"; \(upload) --spool "$DIR/m/s"; echo $?
            """)
        #expect(room.output == "0\n", "\(room.errors)")
        let once = events.withLock { events in (1...20).filter { events[String($0)] == 1 } }
        #expect(once.count == 20, "\(events.withLock(\.self))")
    }
}
