import FerrySpool

/// The keys of a YAML file with their values and lines.
struct YAMLFile {
    struct Key {
        /// Dotted, as in `due.time`.
        let name: String
        let line: Int
        /// The texts of its value: one, or a list's.
        let values: [(text: String, line: Int)]
        let kind: Kind
        /// It stands under a name of an earlier version.
        let isFormer: Bool
    }

    enum Kind {
        case value, list
        /// It has keys below it.
        case section
    }

    let path: String
    /// Those that stand deeper come later. Of two of one name, like `due.time: 04:00` and `due: {time: 05:00}`, the later one counts.
    private(set) var keys: [Key] = []
    private(set) var problems: [ConfigProblem] = []
    /// Keys that stand under a name of an earlier version.
    private(set) var formerNames: [ConfigProblem] = []

    init(_ path: String) throws(GivenFileError) {
        self.path = path
        var bytes = try GivenFile.bytes(path, limit: .mebibytes(1))
        // Editors of Windows begin a file with a byte order mark, which libyaml takes for a character of the first line.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        do throws(YAMLError) {
            guard let root = try YAMLDocument.root(bytes) else { return }
            guard case .mapping(let pairs) = root.content else {
                add(root.line, "the file must hold keys with values, like 'to: https://hub.example/v1/segments'")
                return
            }
            addKeys(pairs)
        } catch {
            add(error.line, error.message)
        }
    }

    /// Many times as many as there are settings.
    private static let mostKeys = 1000

    private mutating func add(_ line: Int, _ message: String) {
        problems.append(.init(place: .line(path, line), message))
    }

    private mutating func addKeys(_ root: [(key: YAMLNode, value: YAMLNode)]) {
        var mappings = [(prefix: "", isFormer: false, pairs: root)][...]
        while let (prefix, isInFormer, pairs) = mappings.popFirst() {
            var lines: [String: Int] = [:]
            for (key, value) in pairs {
                guard keys.count < Self.mostKeys else {
                    problems.append(
                        .init(place: .file(path), "it has more than \(Self.mostKeys) keys, and Ferry has no such settings"))
                    return
                }
                guard let text = key.scalar else {
                    add(key.line, "a key must be a word")
                    continue
                }
                var name = prefix + text
                var isFormer = isInFormer
                if prefix.isEmpty, let known = FormerName(name) {
                    formerNames.append(.init(place: .line(path, key.line), "\(known)"))
                    (name, isFormer) = (known.current, true)
                }
                if let first = lines[name] {
                    add(key.line, "'\(name)' is there twice, the first time in line \(first)")
                    continue
                }
                lines[name] = key.line
                switch value.content {
                case .mapping(let inner):
                    keys.append(Key(name: name, line: key.line, values: [], kind: .section, isFormer: isFormer))
                    mappings.append((name + ".", isFormer, inner))
                case .scalar(let text):
                    keys.append(Key(name: name, line: key.line, values: [(text, value.line)], kind: .value, isFormer: isFormer))
                case .sequence(let nodes):
                    addList(name, key.line, nodes, isFormer)
                }
            }
        }
        // A dotted key beside a section of the other name.
        for key in keys where key.isFormer && key.kind != .section {
            guard let other = keys.first(where: { !$0.isFormer && $0.name == key.name }) else { continue }
            add(key.line, "'\(key.name)' is set in line \(other.line) as well: keep that one")
        }
    }

    private mutating func addList(_ name: String, _ line: Int, _ nodes: [YAMLNode], _ isFormer: Bool) {
        guard nodes.count <= Self.mostKeys else { return add(line, "\(name): a list may hold \(Self.mostKeys) values at most") }
        let values = nodes.compactMap { node in node.scalar.map { (text: $0, line: node.line) } }
        if values.count < nodes.count { add(line, "\(name): a list must hold plain values") }
        keys.append(Key(name: name, line: line, values: values, kind: .list, isFormer: isFormer))
    }
}
