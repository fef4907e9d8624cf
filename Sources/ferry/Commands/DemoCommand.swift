import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the way of some real events in a few seconds: spool, outage, upload, receiver.",
        discussion: "Needs no network and no arguments.\n\nExample: ferry demo")

    func run() async throws {
        let parent = getenv("TMPDIR").flatMap { $0.pointee == 0 ? nil : String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/ferry-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CommandError(FileError("create a folder in", parent)) }
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let spool = try Spool.open(root + "/spool", access: .create)
        let hub = DemoHub(spool: try Spool.open(root + "/hub", access: .create))

        try say("1. Programs drop events into a spool, a plain folder. Nothing else is needed to produce: no daemon, no network.")
        if let fixtures = DemoFixtures.folder() {
            let count = try DemoFixtures.copy(from: fixtures, into: spool)
            try say("   Here are \(count) segments with network logs of two machines, in the order in which they will leave:")
        } else {
            let count = try DemoFixtures.generate(into: spool)
            try say("   Here are \(count) generated segments (fixtures/ was not found), in the order in which they will leave:")
        }
        try say("   \(spool.path)")
        try list(spool)
        let written = try LineChecksum(spool, in: [.pending])

        try say("2. A hub listens, and an upload begins. After five segments the network fails.")
        let port = try await hub.whileRunning(port: 0) { port in
            let report = try await upload(spool, to: port, limit: 5)
            try say("   sent \(counted(report.sent.segments, "segment")), \(report.remaining) remain")
            return port
        }
        let outage = try await upload(spool, to: port)
        if case .unavailable(let reason, _) = outage.stopReason { try say("   next try: \(reason.message)") }
        if let until = outage.destinationWaitsUntil {
            try say("   Nothing is lost: \(outage.remaining) segments wait, the hub is not bothered before \(until.rfc3339).")
        }

        try say("3. The network is back. One call delivers the rest, in order (--retry-now does not wait).")
        let report = try await hub.whileRunning(port: port) { port in try await upload(spool, to: port, retryNow: true) }
        try say("   sent \(counted(report.sent.segments, "segment")), \(report.remaining) remain")

        let received = try LineChecksum(hub.spool, in: [.pending])
        try say("4. What was written and what the hub holds:")
        try say("   written   \(written)")
        try say("   received  \(received)")
        guard written == received, report.remaining == 0 else {
            throw CommandError(.badData, "the two differ: please report this, with the folder \(root)")
        }
        try say("   Nothing is missing, nothing is there twice.")
        try say("Look around:   ferry status --spool \(spool.path)")
        try say("               ferry cat --spool \(hub.spool.path) | head -3")
        try say("Clean up:      rm -r \(root)")
    }

    private func upload(_ spool: Spool, to port: Int, limit: Int? = nil, retryNow: Bool = false) async throws -> UploadReport {
        var options = UploadOptions(destination: try Destination("http://127.0.0.1:\(port)/v1/segments"))
        options.limit = limit
        options.ignoresWaits = retryNow
        return try await UploadPass(spool, options: options).run()
    }

    private func list(_ spool: Spool) throws {
        for segment in try spool.files(in: [.pending]) {
            let events = try segment.open()?.checkDeeply(inflateLimit: .mebibytes(1024)) ?? 0
            try say("     \(segment.name)  \(counted(events, "event"))")
        }
    }

    private func say(_ line: String) throws {
        try StandardOutput.print(line)
        try StandardOutput.flush()
    }
}
