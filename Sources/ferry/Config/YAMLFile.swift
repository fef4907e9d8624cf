import FerrySpool
import Yams

/// The keys of a YAML file with their lines: what the layers of configuration cannot tell.
struct YAMLFile {
    struct Key: Equatable {
        /// Dotted, as in `deadline.time`.
        let name: String
        let line: Int
        /// The texts of its value: one, or a list's.
        let values: [(text: String, line: Int)]
        /// It has keys below it.
        let isSection: Bool

        static func == (left: Key, right: Key) -> Bool { left.name == right.name && left.line == right.line }
    }

    let path: String
    let bytes: [UInt8]
    private(set) var keys: [Key] = []
    private(set) var problems: [ConfigProblem] = []

    init(_ path: String) throws(GivenFileError) {
        self.path = path
        let content = try GivenFile.bytes(path, limit: .mebibytes(1))
        // Editors of Windows begin a file with a byte order mark.
        bytes = content.starts(with: [0xef, 0xbb, 0xbf]) ? Array(content.dropFirst(3)) : content
        guard let text = String(validating: bytes, as: UTF8.self) else {
            problems.append(
                .init(place: .line(path, Self.firstLineNotUTF8(bytes)), "it is not UTF-8; save the file in that encoding"))
            return
        }
        guard !Self.mayGrow(text) else {
            problems.append(
                .init(place: .file(path), "it repeats itself by too many aliases (*name); write the values where they belong"))
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text) else { return }
            guard let mapping = root.mapping else {
                problems.append(
                    .init(
                        place: .line(path, root.mark?.line ?? 1),
                        "the file must hold keys with values, like 'to: https://hub.example/v1/segments'"))
                return
            }
            add(mapping, prefix: "")
            if keys.count > Self.mostKeys {
                problems.append(
                    .init(place: .file(path), "it has more than \(Self.mostKeys) keys, and Ferry has no such settings"))
            }
        } catch let error as YamlError {
            problems.append(Self.problem(error, path))
        } catch {
            problems.append(.init(place: .file(path), "\(error)"))
        }
    }

    private static func firstLineNotUTF8(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return 1 + (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0)
    }

    /// Many times as many as there are settings.
    private static let mostKeys = 1000
    private static let mostAliases = 8

    /// Whether what aliases stand for may be much larger than the file: aliases in what is repeated by aliases multiply it.
    ///
    /// - Returns: Also `true` for the like in comments, if there are many and an anchor.
    private static func mayGrow(_ text: String) -> Bool {
        var anchors = 0
        var aliases = 0
        var previous = UInt8(ascii: " ")
        for (mark, next) in zip(text.utf8, text.utf8.dropFirst()) {
            // Both begin a word: in "hub/*" and "?a=b&c=d" they are text.
            if next > 0x20, previous <= 0x20 || "[{,:".utf8.contains(previous) {
                if mark == UInt8(ascii: "&") { anchors += 1 } else if mark == UInt8(ascii: "*") { aliases += 1 }
            }
            previous = mark
        }
        return anchors > 0 && aliases > mostAliases
    }

    private mutating func add(_ mapping: Node.Mapping, prefix: String) {
        for (keyNode, value) in mapping where keys.count <= Self.mostKeys {
            let line = keyNode.mark?.line ?? value.mark?.line ?? 1
            guard let text = keyNode.string else {
                problems.append(.init(place: .line(path, line), "a key must be a word"))
                continue
            }
            let name = prefix + text
            if let inner = value.mapping {
                keys.append(Key(name: name, line: line, values: [], isSection: true))
                add(inner, prefix: name + ".")
            } else {
                let nodes = value.sequence.map(Array.init) ?? [value]
                guard nodes.count <= Self.mostKeys else {
                    problems.append(.init(place: .line(path, line), "\(name): a list may hold \(Self.mostKeys) values at most"))
                    continue
                }
                let values = nodes.map { (text: $0.scalar?.string, line: $0.mark?.line ?? line) }
                if values.contains(where: { $0.text == nil }) {
                    problems.append(.init(place: .line(path, line), "\(name): a list must hold plain values"))
                }
                keys.append(
                    Key(name: name, line: line, values: values.compactMap { v in v.text.map { ($0, v.line) } }, isSection: false))
            }
        }
    }

    private static func problem(_ error: YamlError, _ path: String) -> ConfigProblem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            .init(place: .line(path, mark.line), "no YAML: \(context.map { "\($0.text) " } ?? "")\(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            .init(place: .line(path, context.mark.line), "\(keys.map { "\($0)" }.joined(separator: ", ")) is there twice")
        default: .init(place: .file(path), "no YAML: \(error)")
        }
    }
}
