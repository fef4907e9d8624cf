import FerrySpool
import TestSupport
import Testing

@Suite("Segments that were copied from spool to spool by other tools")
struct CopiedSegmentTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    /// The IDs of what is pending in a folder.
    private func pending(_ names: String...) throws -> Set<String> {
        try names.reduce(into: []) { ids, name in
            ids.formUnion(try Spool.open(folder(name), access: .read).pending().compactMap { SegmentName($0)?.id })
        }
    }

    @Test(
        "Two spools with the same segments that send to each other at once end none of them on both sides",
        arguments: ["cp", "cp -p"])
    func mutual(copy: String) async throws {
        let (first, second) = (try await Hub(folder("a")), try await Hub(folder("b")))
        let written = try await shell(
            "cd \"$DIR\"; seq 20 | \"$FERRY\" write -q --spool a --roll-events 1; sleep 1; \(copy) a/*.gz b/; sleep 6")
        #expect(written.status == 0, "\(written.errors)")
        let all = try pending("a")
        #expect(all.count == 20)
        _ = try await shell(
            """
            cd "$DIR"; "$FERRY" upload -q --spool a --to \(second.url) & "$FERRY" upload -q --spool b --to \(first.url); wait
            """)
        #expect(try pending("a", "b") == all)
        await first.stop()
        await second.stop()
    }

    @Test(
        "A bundle whose segments were copied to the hub before does not end them at both ends", arguments: ["name", "priority"])
    func bundleOfCopies(change: String) async throws {
        let first = try await Hub(folder("a"))
        let result = try await shell(
            """
            cd "$DIR"; mkdir stick; seq 5 | "$FERRY" write -q --spool a --roll-events 5; "$FERRY" init b -q
            for file in a/*.gz; do name=$(basename $file); [ \(change) = name ] || name=3${name#5}; cp $file b/$name; done; sleep 6
            "$FERRY" export -q stick --spool a && "$FERRY" import stick --spool b
            "$FERRY" upload -q --spool b --to \(first.url)
            "$FERRY" acknowledge -q stick/ferry-receipt* --spool a
            """)
        #expect(try pending("a", "b").count == 1, "\(result.output) \(result.errors)")
        await first.stop()
    }

    @Test("What was given away in a bundle and came back by rsync is not ended by its receipt")
    func broughtBack() async throws {
        let result = try await shell(
            """
            cd "$DIR"; mkdir stick; seq 5 | "$FERRY" write -q --create --spool a --roll-events 5
            "$FERRY" export -q stick --spool a && "$FERRY" import -q stick --spool b; sleep 1
            cp b/*.gz a/ && rm b/*.gz
            "$FERRY" acknowledge stick/ferry-receipt* --spool a
            """)
        #expect(try pending("a").count == 1, "\(result.output) \(result.errors)")
        #expect(result.output.contains("1 changed since they were exported"), "\(result.output) \(result.errors)")
    }

    @Test(
        "A copy that was noted, and was taken away or damaged before anybody was answered, vouches for nothing",
        arguments: ["rm b/*.gz", "for file in b/*.gz; do head -c 60 $file > part; cat part > $file; done"])
    func lostCopy(loss: String) async throws {
        let hub = try await Hub(folder("b"))
        let result = try await shell(
            """
            cd "$DIR"; mkdir stick; seq 50 | "$FERRY" write -q --create --spool a --roll-events 50
            for file in a/*.gz; do name=$(basename $file); cp $file b/3${name#5}; done; sleep 6
            "$FERRY" export -q stick --spool b
            "$FERRY" upload -q --spool a --to \(hub.url); [ -f a/*.gz ] || echo ended too early
            "$FERRY" export --forget $(basename stick/ferry-bundle-* | sed s/ferry-bundle-//) --spool b
            \(loss)
            "$FERRY" upload -q --spool a --to \(hub.url) --retry-now
            cat b/5*.gz | zcat | wc -l
            """)
        #expect(!result.output.contains("too early"), "\(result.output) \(result.errors)")
        #expect(result.output.hasSuffix("50\n"), "\(result.output) \(result.errors)")
        await hub.stop()
    }
}
