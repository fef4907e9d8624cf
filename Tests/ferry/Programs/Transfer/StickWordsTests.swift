import FerrySpool
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("What the carrier of a stick is told")
struct StickWordsTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()
    private let stick: String
    private let spool: Spool

    init() throws {
        stick = folder("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        spool = try folder.spool()
        for second in 1...3 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
    }

    private func run(_ arguments: String...) async throws -> Program.Result { try await ferry.start(arguments).end() }

    private func export(_ more: String...) async throws -> Program.Result {
        try await ferry.start(["export", stick, "--spool", spool.path] + more).end()
    }

    private func bundle() throws -> String {
        "\(stick)/\(try #require(try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.hasPrefix("ferry-bundle-") }))"
    }

    @Test("When a bundle is written and taken, it is told what may be done with stick and bundle")
    func done() async throws {
        let exported = try await export()
        #expect(exported.output.hasSuffix("\nwritten and synced: once it is unmounted, the stick may be pulled out\n"))
        let taken = try await run("import", stick, "--spool", folder("hub"))
        #expect(taken.output.hasSuffix("\nall of it is here, synced: take the receipt back, and the bundle may be deleted\n"))
        #expect(!taken.errors.contains("signed"))
    }

    @Test("A signature that nothing is there to check is told")
    func unchecked() async throws {
        #expect(try await run("keygen", folder("site")).status == 0)
        #expect(try await export("--sign", folder("site.key")).status == 0)
        let taken = try await run("import", stick, "--spool", folder("hub"))
        #expect(taken.status == 0)
        #expect(taken.errors.contains("is signed, and by whom was not checked: --from names the sender's public key"))
        let checked = try await run("import", stick, "--spool", folder("hub"), "--from", folder("site.pub"))
        #expect(!checked.errors.contains("not checked"), "\(checked.errors)")
    }

    @Test("The wrong half of a key is called what it is")
    func halves() async throws {
        #expect(try await run("keygen", folder("site")).status == 0)
        let signed = try await export("--sign", folder("site.pub"))
        #expect(signed.status == 78)
        #expect(signed.errors.contains("site.pub is the public half, and the private one is needed here: NAME.key beside it"))
        let encrypted = try await export("--encrypt-to", folder("site.key"))
        #expect(encrypted.status == 78)
        #expect(encrypted.errors.contains("site.key is the private half, which stays secret"))
    }

    @Test("A bundle that is refused makes no spool, nor does a place without one")
    func refused() async throws {
        let none = try await run("import", stick, "--spool", folder("hub"))
        #expect(none.status == 65)
        #expect(none.errors == "ferry: error: there is no bundle in \(stick)\n")
        #expect(try await run("keygen", folder("hub-key")).status == 0)
        #expect(try await export("--encrypt-to", folder("hub-key.pub")).status == 0)
        let locked = try await run("import", stick, "--spool", folder("hub"))
        #expect(locked.status == 65)
        #expect(locked.errors.hasSuffix("is encrypted; --key names the key that opens it\n"), "\(locked.errors)")
        #expect(access(folder("hub"), F_OK) != 0)
    }

    @Test("What is missing of a bundle is one line")
    func missing() async throws {
        #expect(try await export().status == 0)
        for name in ["000002.gz", "000003.gz"] { #expect(unlink("\(try bundle())/\(name)") == 0) }
        let taken = try await run("import", stick, "--spool", folder("hub"))
        #expect(taken.status == 65)
        #expect(taken.errors.contains("2 of 3 segments are missing, "), "\(taken.errors)")
        #expect(taken.errors.split(separator: "\n").count { $0.contains("missing") } == 1, "\(taken.errors)")
        #expect(!taken.output.contains("may be deleted"))
    }

    @Test("Of a stick, the receipts in it are acknowledged; another spool is told which one they are for")
    func receipts() async throws {
        let early = try await run("acknowledge", stick, "--spool", spool.path)
        #expect(early.status == 65)
        #expect(early.errors.contains("\(stick): the receipt cannot be read: there is none in this folder"), "\(early.errors)")
        #expect(try await export().status == 0)
        #expect(try await run("import", stick, "--spool", folder("hub")).status == 0)
        let other = try await run("acknowledge", stick, "--spool", try folder.spool("other").path)
        #expect(other.status == 65)
        #expect(other.errors.contains("its bundle comes from the spool \(spool.id), and this is "), "\(other.errors)")
        let done = try await run("acknowledge", stick, "--spool", spool.path)
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.hasPrefix("acknowledged 3 segments"))
        let again = try await run("acknowledge", stick, "--spool", spool.path)
        #expect(again.status == 0)
        #expect(again.errors.contains("the receipt is of no more use"), "\(again.errors)")
    }

    @Test("On a full stick it is told how to take what fits")
    func fullStick() async throws {
        guard folder.mount("size=2m") else { return }
        for second in 4...6 { try spool.put(Segments.gzip(Segments.noise(1_000_000)), as: Segments.name(second: second)) }
        let full = try await run("export", folder("m"), "--spool", spool.path)
        #expect(full.status == 73)
        #expect(full.errors.contains("nothing is marked, the spool is as it was"), "\(full.errors)")
        #expect(full.errors.contains("or take what fits: --max-bytes 2MB"), "\(full.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("m")).isEmpty)
        let part = try await run("export", folder("m"), "--spool", spool.path, "--max-bytes", "2MB")
        #expect(part.status == 75, "\(part.errors)")
        #expect(part.output.contains("did not fit"), "\(part.output)")
    }

    @Test("A receiver does not start where nothing can be stored")
    func readOnly() async throws {
        guard folder.mount("size=2m") else { return }
        _ = try Spool.open(folder("m/s"), access: .create)
        guard try await Program("/bin/sh").run("-c", "mount -o remount,ro \(folder("m"))").status == 0 else { return }
        let result = try await run("receive", "--spool", folder("m/s"), "--listen", "127.0.0.1:0")
        #expect(result.status == 74)
        #expect(result.errors.contains("cannot write in \(folder("m/s")): Read-only file system; remount it writable"))
    }
}
