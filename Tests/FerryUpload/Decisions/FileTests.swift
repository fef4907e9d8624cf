import FerrySpool
import Glibc
import Testing

@testable import FerryUpload

@Suite("A folder's URL") struct FileLocationTests {
    @Test(
        "The folder before the first placeholder must be there; what is below it is made of the segment",
        arguments: [
            ("file:///mnt/share", "/mnt/share", "/%7Bsegment%7D"),
            ("FILE://localhost/mnt/share/", "/mnt/share", "/%7Bsegment%7D"),
            ("file:///mnt//share/{day}", "/mnt/share", "/%7Bday%7D/%7Bsegment%7D"),
            ("file:///mnt/a%20b/x-{day}/{hour}/in", "/mnt/a b", "/x-%7Bday%7D/%7Bhour%7D/in/%7Bsegment%7D"),
            ("file:///mnt/größe/{id}.gz", "/mnt/größe", "/%7Bid%7D.gz"),
            ("file:///mnt/{key}/data.gz?require-mount=no", "/mnt", "/%7Bkey%7D/data.gz"),
        ]) func places(text: String, base: String, target: String) throws
    {
        let location = try FileLocation(text)
        #expect(location.base == base)
        #expect(location.url.target == target)
        #expect(!location.requiresMount)
    }

    @Test("A mount is required only where the query says so") func mount() throws {
        #expect(try FileLocation("file:///mnt/share?require-mount=yes").requiresMount)
    }

    @Test(
        "Segments have folders of their own where what differs between them names one",
        arguments: [
            ("file:///mnt/share", false), ("file:///mnt/{day}", true), ("file:///mnt/{machine}/in", false),
            ("file:///mnt/{machine}/{stream}", true), ("file:///mnt/{stream}-{segment}", false),
        ]) func folders(text: String, hasFolders: Bool) throws
    {
        #expect(try FileLocation(text).hasFolders == hasFolders)
    }

    @Test("The ledger shows the folder, without the query") func description() throws {
        #expect(try FileLocation("file:///mnt/a%20b/{day}/?require-mount=yes").description == "file:///mnt/a%20b/{day}")
        #expect(try Destination("file://localhost/mnt/share").description == "file:///mnt/share")
    }

    @Test("Only segments as they are go there, and no header fields") func terms() throws {
        let destination = try Destination("file:///mnt/share/{day}")
        #expect(destination.takesSegmentsOnly)
        #expect(destination.reserves("X-Anything"))
        #expect(!destination.namesSegment)
        #expect(!destination.namesDay)
    }

    @Test("No network leads to it, and no proxy") func network() throws {
        let origin = try Destination("file:///mnt/share").url.origin
        let proxies = try ProxySettings(environment: ["ALL_PROXY": "http://proxy:1"])
        #expect(proxies.proxy(for: origin) == nil)
        #expect(origin.isSecure == false)
    }

    @Test(
        "What is no folder's URL is told in a line",
        arguments: [
            ("file:/mnt/share", "has no absolute path"), ("file:mnt", "has no absolute path"),
            ("file://nas/share", "names the host 'nas'"), ("file:///", "names no folder before"),
            ("file:///{day}", "names no folder before"), ("file:///mnt/../etc", "holds '..'"), ("file:///mnt/./a", "holds '.'"),
            ("file:///mnt/%2e%2e/etc", "holds '%2e%2e'"), ("file:///mnt/a#b", "holds '#'"),
            ("file:///mnt/{year}", "cannot be a part of a path"), ("file:///mnt/%7Bday%7D", "cannot be a part of a path"),
            ("file:///mnt/a%2Fb", "cannot be a part of a path"), ("file:///mnt/%00", "cannot be a part of a path"),
            ("file:///mnt/%zz", "cannot be a part of a path"), ("file:///mnt/a\nb", "cannot be a part of a path"),
            ("file:///mnt/" + String(repeating: "x", count: 256), "cannot be a part of a path"),
            ("file:///" + String(repeating: "abcdefgh/", count: 500), "is longer than a path can be"),
            ("file:///mnt?mount=yes", "'mount=…' is not require-mount=yes"),
        ]) func mistakes(text: String, said: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try FileLocation(text) }
        #expect(error.description.contains(said), "\(error)")
    }

    @Test("What was put in for a placeholder is one part of the path, or the whole is none") func values() throws {
        let location = try FileLocation("file:///mnt/{machine}/{segment}")
        func place(_ machine: String) -> (folders: [String], name: String)? {
            FileLocation.place(location.url.target { $0 == .machine ? machine : "a b.gz" })
        }
        #expect(place("edge 7")?.folders == ["edge 7"])
        #expect(place("edge 7")?.name == "a b.gz")
        for machine in ["..", ".", "a/b", "../../etc", "a\0b"] { #expect(place(machine) == nil, "\(machine)") }
    }
}

@Suite("What a folder's failures mean") struct FileFailureTests {
    private static func verdict(_ code: Int32, _ step: FileFailure.Step, _ reach: FileFailure.Reach = .all) -> Verdict {
        FileFailure(step: step, error: FileError("open", "/no/such/place", code: code), reach: reach).verdict
    }

    /// Its name, as the table of meanings has it.
    private static func name(_ verdict: Verdict) -> String {
        switch verdict {
        case .unavailable(_, nil): "waits"
        case .misconfigured: "misconfigured"
        case .doubtful: "another tells"
        case .circling: "waits by itself"
        case .tooLarge: "split"
        case .withdrawn: "changed"
        default: "\(verdict)"
        }
    }

    @Test(
        "Each number means one thing, by what was tried",
        arguments: [
            (ENOENT, .base, "waits"), (ENOTDIR, .base, "waits"), (ESTALE, .base, "waits"), (ETIMEDOUT, .base, "waits"),
            (EHOSTDOWN, .base, "waits"), (ENODEV, .base, "waits"), (ENAMETOOLONG, .base, "waits"), (ELOOP, .base, "waits"),
            (EACCES, .base, "misconfigured"), (EIO, .write, "waits"), (EIO, .force, "waits"), (ENOSPC, .write, "waits"),
            (ENOSPC, .create, "waits"), (EDQUOT, .force, "waits"), (ENOENT, .name, "waits"), (ESTALE, .folder, "waits"),
            (EROFS, .create, "misconfigured"), (EROFS, .folder, "misconfigured"), (EPERM, .name, "misconfigured"),
            (EACCES, .create, "misconfigured"), (EACCES, .look, "misconfigured"), (EACCES, .compare, "another tells"),
            (ELOOP, .folder, "another tells"),
            (ENOTDIR, .folder, "another tells"), (ENAMETOOLONG, .create, "another tells"), (EINVAL, .name, "another tells"),
            (EILSEQ, .look, "another tells"), (EFBIG, .write, "split"), (EIO, .source, "changed"), (ESTALE, .source, "changed"),
            (ENOTTY, .write, "another tells"), (EMFILE, .create, "another tells"),
        ] as [(Int32, FileFailure.Step, String)]) func meaning(code: Int32, step: FileFailure.Step, meaning: String)
    {
        #expect(Self.name(Self.verdict(code, step)) == meaning)
    }

    @Test(
        "What may not be written holds up all only where it is the folder of all", arguments: [EROFS, EACCES, EPERM],
        [FileFailure.Step.folder, .look, .create, .write, .name])
    func denied(code: Int32, step: FileFailure.Step) {
        #expect(Self.name(Self.verdict(code, step, .all)) == "misconfigured")
        #expect(Self.name(Self.verdict(code, step, .folder(isBaseOpen: true))) == "waits by itself")
        #expect(Self.name(Self.verdict(code, step, .folder(isBaseOpen: false))) == "another tells")
        #expect(Self.name(Self.verdict(code, .base, .folder(isBaseOpen: true))) == "misconfigured")
    }

    @Test("No number in any step ends a segment", arguments: FileFailure.Step.allCases) func ends(step: FileFailure.Step) {
        for code in 1...Int32(133) {
            let verdict = Self.verdict(code, step)
            switch verdict {
            case .delivered, .refused: Issue.record("\(code): \(verdict)")
            default: break
            }
        }
    }

    @Test("A folder that is missing is no try of a segment") func missing() throws {
        let reason = try #require(Self.verdict(ENOENT, .base).reason)
        #expect(Verdict.Reason.isOfNoConnection(reason.kind))
        #expect(reason.message.contains("Ferry never makes it"))
    }
}

@Suite("The hidden names of copies under way") struct DeadCopiesTests {
    @Test("Only this machine's, of this spool, are its own") func own() {
        let dead = DeadCopies(machine: "edge", spool: "s1")
        #expect(dead.isOwn(dead.name()))
        #expect(dead.name() != dead.name())
        #expect(!dead.isOwn(DeadCopies(machine: "other", spool: "s1").name()))
        #expect(!dead.isOwn(DeadCopies(machine: "edge", spool: "s2").name()))
        #expect(!dead.isOwn(dead.name().replacing(".ferry-copy", with: ".gz")))
    }
}
