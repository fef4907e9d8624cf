import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("What ferry write takes, and what it says to what it does not")
struct InputTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run(
            "-c", "cd \"$DIR\"; \"$FERRY\" init -q s; \(script)")
    }

    @Test(
        "Compressed input is decompressed by its first bytes, from files and pipes, with any number of members",
        .needs("gzip", "zstd"), arguments: ["gzip", "zstd"])
    func compressed(program: String) async throws {
        let result = try await shell(
            """
            seq 1 50000 >a; seq 50001 60000 >b; \(program) -qc a >z; \(program) -qc b >>z
            "$FERRY" write -q --spool s z; seq 60000 >all
            "$FERRY" cat --spool s | cmp - all && echo file
            "$FERRY" init -q p; (head -c 1 z; sleep 0.1; tail -c +2 z) | "$FERRY" write -q --spool p
            "$FERRY" cat --spool p | cmp - all && echo pipe
            """)
        #expect(result.output == "file\npipe\n", "\(result.errors)")
    }

    @Test(
        "What is cut off is stored as far as it goes, and going on as told stores each line once",
        .needs("gzip", "zstd"), arguments: [("gzip", "the gzip data ends early"), ("zstd", "the zstd data ends early")])
    func cut(program: String, reason: String) async throws {
        let result = try await shell(
            """
            seq -f '{"n":%.0f,"s":"'$(head -c 60 /dev/zero | tr '\\0' x)'"}' 200000 >all; \(program) -qc all >whole; head -c $(($(wc -c <whole) / 2)) whole >cut
            "$FERRY" write --spool s cut 2>errors; echo $?
            hint=$(sed -n 's/.*To go on, with the same options: //p' errors)
            cp whole cut
            ferry() { shift; "$FERRY" write --spool s "$@"; }
            eval "$hint" >/dev/null 2>&1; echo $?
            "$FERRY" cat --spool s | cmp - all && echo same
            cat errors
            """)
        #expect(result.output.hasPrefix("65\n0\nsame\n"), "\(result.output) \(result.errors)")
        #expect(result.output.contains("cut: \(reason), at byte "), "\(result.output)")
        #expect(result.output.contains(". Stopped at cut, line "), "\(result.output)")
    }

    @Test("Elements of arrays are events with --array, and what is wrong has its place")
    func array() async throws {
        let result = try await shell(
            """
            printf '[\\n  {\\n "a": 1\\n },\\n {"a": 2}\\n]\\n[3]' | "$FERRY" write --array --spool s
            "$FERRY" cat --spool s
            printf '[{"a":1},\\n {"a":NaN}]' >bad.json; "$FERRY" write --array --spool s bad.json; echo $?
            printf '[{"a":1},\\n {"a":NaN},4]' | "$FERRY" write --array --spool s --skip-invalid; echo $?
            printf '{"a":1}\\n' | "$FERRY" write --array --spool s; echo $?
            """)
        #expect(
            result.output.hasPrefix("wrote 3 events in 1 segment to s\n{\"a\":1}\n{\"a\":2}\n3\n65\nwrote 2 events"),
            "\(result.output) \(result.errors)")
        #expect(result.errors.contains("bad.json, line 2, column 7: element 2: not a JSON value"), "\(result.errors)")
        #expect(
            result.errors.contains("To go on, with the same options: ferry write --spool s --array --first-line 2 bad.json"),
            "\(result.errors)")
        #expect(result.errors.contains("no array begins here"), "\(result.errors)")
        #expect(result.errors.contains("without --array each line is an event"), "\(result.errors)")
    }

    @Test("Going on within an array passes over what is stored, and keeps each element as it is", arguments: ["cat", "gzip -c"])
    func restOfArray(program: String) async throws {
        let result = try await shell(
            """
            printf '[{"id":12345678901234567890},\n {"a":1,"a":2},' >whole; seq -s, 3 2000 >>whole; printf ',bad,{"z":1.10}]' >>whole
            \(program) whole >in; echo '["other"]' >other
            "$FERRY" write --array --spool s in other 2>errors; echo $?
            eval "$(sed -n 's/.*To go on, with the same options: ferry/"$FERRY"/p' errors) --skip-invalid" 2>/dev/null; echo $?
            "$FERRY" cat --spool s | sed '3,2000d'
            "$FERRY" cat --spool s | wc -l
            """)
        #expect(
            result.output.split(separator: "\n").filter { !$0.hasPrefix("wrote") }.joined(separator: "\n")
                == "65\n65\n{\"id\":12345678901234567890}\n{\"a\":1,\"a\":2}\n{\"z\":1.10}\n\"other\"\n2002",
            "\(result.output) \(result.errors)")
    }

    @Test("Without --array an array of objects is one event, with a word of it; of several lines it is refused with the way out")
    func hints() async throws {
        let result = try await shell(
            """
            echo '[{"a":1},{"a":2}]' | "$FERRY" write --spool s
            printf '{\\n "a": 1\\n}\\n' >pretty.json; "$FERRY" write --spool s pretty.json
            printf '[\\n {"a": 1}\\n]\\n' | "$FERRY" write --spool s
            printf '1\\n{"a":\\n' | "$FERRY" write --spool s
            """)
        #expect(result.output.hasPrefix("wrote 1 event in 1 segment"), "\(result.output)")
        #expect(
            result.errors.contains("an array of objects is one event; with --array each of its elements is one"),
            "\(result.errors)")
        #expect(
            result.errors.contains("it seems to be JSON over several lines: jq -c . pretty.json | ferry write\n"),
            "\(result.errors)")
        #expect(
            result.errors.contains("it seems to be a JSON array: with --array each of its elements is an event\n"),
            "\(result.errors)")
        #expect(result.errors.contains("line 2, column 6: the line ends inside an object. "), "\(result.errors)")
        #expect(result.errors.contains("mend the line, or add --skip-invalid"), "\(result.errors)")
    }

    @Test("Text becomes events of one field, and objects stay as they are")
    func text() async throws {
        let result = try await shell(
            """
            printf 'a "b"\\\\c\\r\\n{"x":1}\\n42\\n\\n\\377\\n' | "$FERRY" write -q --spool s --as-text msg
            "$FERRY" cat --spool s
            """)
        #expect(
            result.output
                == "{\"msg\":\"a \\\"b\\\"\\\\c\"}\n{\"x\":1}\n{\"msg\":\"42\"}\n{\"msg\":\"\u{fffd}\"}\n", "\(result.errors)")
    }
}
