import Foundation
import TestSupport

/// Debian's chromium, without a window, as Tests/Browser/browser.py drives it.
final class Browser {
    struct Answer: Decodable {
        var ok: Bool?
        var value: Value?
        var error: String?
    }

    /// What a script returns.
    enum Value: Decodable, Equatable {
        case text(String), number(Double), yes, no, list([String]), nothing

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = flag ? .yes : .no
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let list = try? container.decode([String].self) {
                self = .list(list)
            } else {
                self = .nothing
            }
        }
    }

    struct FailedError: Error { let text: String }

    private let process = Process()
    private let commands = Pipe()
    private let answers = Pipe()
    private var rest = Data()

    init() throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "\(Program.checkout)/Tests/Browser/browser.py"]
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
    }

    /// Ends chromium, too: it reads no more.
    deinit {
        try? commands.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    @discardableResult
    func call(_ command: [String: any Sendable]) throws -> Value? {
        try commands.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: command) + [10])
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = rest[..<end]
                rest = Data(rest[(end + 1)...])
                let answer = try JSONDecoder().decode(Answer.self, from: line)
                if let error = answer.error { throw FailedError(text: error) }
                return answer.value
            }
            let piece = answers.fileHandleForReading.availableData
            if piece.isEmpty { throw FailedError(text: "the browser has ended") }
            rest += piece
        }
    }

    func open(_ url: String, width: Int = 1440, dark: Bool = false) throws {
        try call(["open": url, "width": width, "height": 900, "dark": dark])
    }

    func ask(_ script: String) throws -> Value? { try call(["ask": script]) }

    func wait(_ script: String) throws { try call(["wait": script, "seconds": 30]) }

    func press(_ key: String, times: Int = 1) throws { for _ in 0..<times { try call(["key": key]) } }

    func type(_ text: String) throws { try call(["type": text]) }

    /// What the console said: errors of scripts, and what the policy forbade.
    var problems: [String] {
        get throws { if case .list(let list) = try call(["problems": true]) { list } else { [] } }
    }

    /// What was asked for since the page was opened.
    var requests: [String] {
        get throws { if case .list(let list) = try call(["requests": true]) { list } else { [] } }
    }
}
