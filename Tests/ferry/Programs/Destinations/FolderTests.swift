import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Into a folder") struct FolderTests {
    private let folder = TemporaryFolder()
    private var url: String { "file://\(folder("share"))/{day}" }

    init() { mkdir(folder("share"), 0o755) }

    /// Fills a spool, and returns where each segment is to lie in the share.
    private func fill(_ spool: Spool, _ seconds: Range<Int>) throws -> [String: [UInt8]] {
        var segments: [String: [UInt8]] = [:]
        for second in seconds {
            let name = Segments.name(second: second)
            // Every twentieth is too large to go with others.
            let bytes = try Array(
                second.isMultiple(of: 20)
                    ? Segments.gzip(Segments.noiseLines(300_000)) : Segments.gzip(Segments.lines(second..<second + 5)))
            try spool.put(bytes, as: name)
            segments["\(name.created.day)/\(name.fileName)"] = bytes
        }
        return segments
    }

    /// Requires that a folder has exactly some files, hidden ones counted.
    private func expect(_ place: String, holds wanted: [String: [UInt8]]) throws {
        let there = try FileManager.default.subpathsOfDirectory(atPath: folder(place)).filter { $0.contains("/") }
        #expect(there.sorted() == wanted.keys.sorted())
        for (name, bytes) in wanted {
            let isSame = FileManager.default.contents(atPath: folder("\(place)/\(name)")).map { Array($0) } == bytes
            #expect(isSame, "\(name)")
        }
    }

    @Test("The uploader is killed again and again: each segment is one file, byte for byte, and nothing else is left")
    func kills() async throws {
        let spool = try folder.spool()
        let wanted = try fill(spool, 0..<300)
        var random = Seeded(seed: 14)
        for _ in 0..<15 {
            let upload = try Program().start(["upload", "--quiet", "--retry-now", "--spool", spool.path, "--to", url])
            try await Task.sleep(for: .milliseconds(Int.random(in: 5..<90, using: &random)))
            upload.send(SIGKILL)
            _ = await upload.end()
        }
        let last = try await Program().run("upload", "--retry-now", "--spool", spool.path, "--to", url)
        #expect(last.status == 0, "\(last.errors)")
        try expect("share", holds: wanted)
        #expect(try spool.scan().entries.isEmpty)
        let copy = try folder.spool("copy")
        for (name, bytes) in wanted { try copy.put(bytes, as: try #require(SegmentName((name as NSString).lastPathComponent))) }
        let again = try await Program().run("upload", "--json", "--spool", copy.path, "--to", url)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\"duplicates\":300"), "\(again.output)")
        try expect("share", holds: wanted)
    }

    @Test("Two spools into one share at once: what both have is there once, and what differs under one name stays in its spool")
    func together() async throws {
        let (one, two) = (try folder.spool("one"), try folder.spool("two"))
        var wanted = try fill(one, 0..<150).merging(fill(two, 150..<300)) { first, _ in first }
        for second in 300..<330 {
            let (name, bytes) = (Segments.name(second: second), Array(Segments.gzip(Segments.lines(0..<second))))
            for spool in [one, two] { try spool.put(bytes, as: name) }
            wanted["\(name.created.day)/\(name.fileName)"] = bytes
        }
        let name = Segments.name(second: 330)
        let (first, second) = (Segments.gzip("{\"of\":1}\n"), Segments.gzip("{\"of\":2}\n"))
        try one.put(first, as: name)
        try two.put(second, as: name)
        async let other = Program().run("upload", "--spool", two.path, "--to", url)
        let results = try await [Program().run("upload", "--spool", one.path, "--to", url), other]
        #expect(results.map(\.status).sorted() == [0, 65], "\(results.map(\.errors))")
        let loser = results[0].status == 65 ? one : two
        #expect(try loser.rejected.segments().map(\.name) == [name.fileName])
        wanted["\(name.created.day)/\(name.fileName)"] = Array(results[0].status == 65 ? second : first)
        try expect("share", holds: wanted)
    }

    @Test("Into a disk that gets full goes what fits, the rest waits, and goes on when there is room") func full() async throws {
        let spool = try folder.spool()
        let wanted = try fill(spool, 0..<300)
        guard folder.mount("size=1m") else { return }
        let place = "file://\(folder("m"))/{day}?require-mount=yes"
        let first = try await Program().run("upload", "--spool", spool.path, "--to", place)
        #expect(first.status == 75, "\(first.errors)")
        #expect(first.errors.contains("free some space"), "\(first.errors)")
        #expect(try !spool.scan().entries.isEmpty)
        let grown = try await Program("/bin/sh").run("-c", "mount -o remount,size=64m \"$0\"", folder("m"))
        #expect(grown.status == 0, "\(grown.errors)")
        let last = try await Program().run("upload", "--retry-now", "--spool", spool.path, "--to", place)
        #expect(last.status == 0, "\(last.errors)")
        try expect("m", holds: wanted)
    }

    @Test("A share that is not there, or not to be written, is told in a line with its exit code, and nothing is lost")
    func mistakes() async throws {
        let spool = try folder.spool()
        let wanted = try fill(spool, 1..<3)
        mkdir(folder("empty"), 0o755)
        mkdir(folder("spool/in"), 0o755)
        for (place, status, said) in [
            ("file://\(folder("nowhere"))/{day}", 75, "Ferry never makes it"),
            ("file://\(folder("empty"))?require-mount=yes", 75, "nothing is mounted on"),
            ("file://\(folder("spool/in"))", 77, "lies in the spool"), ("file://nas/share", 64, "names the host 'nas'"),
        ] as [(String, Int32, String)] {
            let result = try await Program().run("upload", "--retry-now", "--spool", spool.path, "--to", place)
            #expect(result.status == status, "\(place)")
            #expect(result.errors.contains(said), "\(result.errors)")
        }
        if folder.mount("size=1m,ro") {
            let result = try await Program().run(
                "upload", "--retry-now", "--spool", spool.path, "--to", "file://\(folder("m"))")
            #expect(result.status == 77, "\(result.errors)")
        }
        let dry = try await Program().run("upload", "--dry-run", "--spool", spool.path, "--to", url)
        #expect(dry.output.split(separator: "\n").count == 2)
        let last = try await Program().run("upload", "--spool", spool.path, "--to", url)
        #expect(last.status == 0, "\(last.errors)")
        try expect("share", holds: wanted)
    }

    @Test("A disk that answers nothing holds up no process: it says so, and what was under way stays pending")
    func hangs() async throws {
        let spool = try folder.spool()
        let wanted = try fill(spool, 1..<3)
        let mounted = try await Program("/bin/sh").run(
            "-c",
            """
            cd "$0" && mkdir m && head -c 8M /dev/zero >disk && mkfs.ext4 -q disk && mount -o loop disk m && fsfreeze -f m
            """, folder.path)
        guard mounted.status == 0 else { return print("NOT TESTED: freezing a disk is not allowed here: \(mounted.errors)") }
        func thaw() async throws { _ = try await Program("/bin/sh").run("-c", "fsfreeze -u \"$0\"", folder("m")) }
        let place = "file://\(folder("m"))/{day}"
        let upload: Running
        do {
            upload = try Program().start(["upload", "--timeout", "1s", "--spool", spool.path, "--to", place])
            _ = try await upload.waitFor("does not answer")
            #expect(try spool.scan().entries.count == 2)
            try await thaw()
        } catch {
            try await thaw()
            throw error
        }
        // The kernel lets go of a thread that waits for a frozen disk no sooner.
        #expect(await upload.end().status == 75)
        let last = try await Program().run("upload", "--retry-now", "--spool", spool.path, "--to", place)
        #expect(last.status == 0, "\(last.errors)")
        try FileManager.default.removeItem(atPath: folder("m/lost+found"))
        try expect("m", holds: wanted)
    }
}
