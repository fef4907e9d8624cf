import Foundation
import TestSupport
import Testing

/// Runs the built binary, and other programs, as a user would.
struct Program: Sendable {
    struct Result: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    /// The `ferry` that was built with these tests.
    static let ferry: String = {
        let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (link as NSString).deletingLastPathComponent + "/ferry"
    }()

    /// Returns the path of another product of this build.
    static func built(_ name: String) -> String { (ferry as NSString).deletingLastPathComponent + "/" + name }

    /// The package's folder.
    static let checkout = #filePath.components(separatedBy: "/Tests/ferry/")[0]

    static func fixture(_ name: String) -> String { "\(checkout)/fixtures/\(name)" }

    let path: String
    var environment: [String: String] = [:]

    init(_ path: String = Program.ferry, environment: [String: String] = [:]) {
        self.path = path
        self.environment = environment
    }

    /// Runs to the end.
    func run(_ arguments: String..., input: String? = nil) async throws -> Result {
        try await start(arguments, input: input).end()
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - output: Where it writes; `nil`: a file of its own.
    ///   - errors: Where its errors go; `nil`: a file of their own.
    func start(_ arguments: [String], input: String? = nil, output: String? = nil, errors: String? = nil) throws -> Running {
        let folder = TemporaryFolder()
        // Files instead of pipes: nobody has to read while the program runs, and nothing blocks when it is killed.
        for name in ["in", "out", "err"] {
            _ = FileManager.default.createFile(atPath: folder(name), contents: name == "in" ? input.map { Data($0.utf8) } : nil)
        }
        let process = try ChildProcess(
            path, arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: folder("in"), output: output ?? folder("out"), errors: errors ?? folder("err"))
        return Running(process, folder)
    }

    /// Runs it, and expects a status and texts.
    ///
    /// - Parameter place: Where the texts must stand.
    func expect(
        _ arguments: [String], _ status: Int32, _ texts: [String], in place: (Result) -> String = { $0.output + $0.errors },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await start(arguments).end()
        #expect(result.status == status, "\(result.output)\(result.errors)", sourceLocation: sourceLocation)
        for text in texts { #expect(place(result).contains(text), "\(result)", sourceLocation: sourceLocation) }
    }

    /// Returns the path of a program; `nil` where it is missing.
    static func find(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (["/usr/sbin", "/usr/bin", "/usr/local/bin", "/bin", "/sbin"] + path.split(separator: ":").map(String.init))
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A program that is running.
final class Running: Sendable {
    private let process: ChildProcess
    private let folder: TemporaryFolder

    init(_ process: ChildProcess, _ folder: TemporaryFolder) {
        self.process = process
        self.folder = folder
    }

    var processIdentifier: Int32 { process.processIdentifier }

    func send(_ signal: Int32) { process.send(signal) }

    /// Waits for the end.
    func end() async -> Program.Result {
        .init(status: await process.end(), output: read("out"), errors: read("err"))
    }

    var errors: String { read("err") }
    var output: String { read("out") }

    private func read(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: folder(name)) ?? Data(), as: UTF8.self)
    }

    /// Waits until standard error says something, and returns what comes after it on the line.
    func waitFor(_ text: String) async throws -> String {
        var found = ""
        try await eventually("'\(text)' on standard error, which says: \(errors)") {
            let errors = errors
            guard let range = errors.range(of: text), let end = errors[range.upperBound...].firstIndex(of: "\n") else {
                return false
            }
            found = String(errors[range.upperBound..<end])
            return true
        }
        return found
    }
}

/// `ferry receive` on a port that stays its own when it ends.
struct Hub {
    let running: Running
    let port: Int
    let spool: String

    var url: String { "http://127.0.0.1:\(port)/v1/segments" }

    init(_ spool: String, port: Int = LoopbackPort.own(), _ more: [String] = []) async throws {
        self.spool = spool
        running = try Program().start(["receive", "--listen", "127.0.0.1:\(port)", "--spool", spool] + more)
        let line = try await running.waitFor("listening on http://127.0.0.1:")
        self.port = Int(line.prefix { $0.isNumber }) ?? 0
    }

    func stop() async {
        running.send(SIGTERM)
        _ = await running.end()
    }
}
