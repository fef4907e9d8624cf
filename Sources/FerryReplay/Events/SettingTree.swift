import FerrySpool

/// All fields that are set, as the objects that they stand in: those of one object are added together.
struct SettingTree: Sendable {
    private struct Member: Sendable {
        let name: String
        let path: FieldPath
        /// Where the extractor puts its value.
        var field = 0
        var content: Content
    }

    private indirect enum Content: Sendable {
        case value([UInt8])
        case members([Member])
    }

    private var members: [Member] = []

    var isEmpty: Bool { members.isEmpty }

    /// Sets a field; of two settings of one field the later one counts.
    mutating func add(_ setting: Rewriting.Setting) {
        Self.add(setting.path.components[...], setting.value, to: &members, below: [])
    }

    /// Tells where each field's value will be found.
    mutating func number(_ fieldOf: (FieldPath) -> Int) { Self.number(&members, fieldOf) }

    /// Returns the edits that set the fields in a line.
    func edits(_ fields: [JSONField?], _ line: UnsafeBufferPointer<UInt8>) -> [Rewriting.Edit] {
        guard let start = line.firstIndex(of: UInt8(ascii: "{")) else { return [] }
        var edits: [Rewriting.Edit] = []
        Self.edit(members, in: start..<line.count, fields, line, &edits)
        return edits
    }

    private static func add(_ path: ArraySlice<String>, _ value: [UInt8], to members: inout [Member], below parents: [String]) {
        guard let name = path.first else { return }
        let rest = path.dropFirst()
        let here = parents + [name]
        guard let index = members.firstIndex(where: { $0.name == name }) else {
            var content = Content.value(value)
            if !rest.isEmpty {
                var inner: [Member] = []
                add(rest, value, to: &inner, below: here)
                content = .members(inner)
            }
            members.append(Member(name: name, path: FieldPath(components: here), content: content))
            return
        }
        switch members[index].content {
        case _ where rest.isEmpty: members[index].content = .value(value)
        case .members(var inner):
            add(rest, value, to: &inner, below: here)
            members[index].content = .members(inner)
        case .value(let earlier): members[index].content = .value(setting(rest, value, in: earlier))
        }
    }

    /// Returns a value with a field in it set; what is no object gives way to one.
    private static func setting(_ path: ArraySlice<String>, _ value: [UInt8], in object: [UInt8]) -> [UInt8] {
        var tree = SettingTree()
        add(path, value, to: &tree.members, below: [])
        var paths: [FieldPath] = []
        tree.number { path in
            paths.append(path)
            return paths.count - 1
        }
        guard paths.count <= FieldExtractor.mostPaths else { return render(tree.members) }
        var fields = [JSONField?](repeating: nil, count: paths.count)
        let extractor = FieldExtractor(paths)
        return object.withUnsafeBufferPointer { line in
            guard extractor.extract(line, into: &fields) else { return render(tree.members) }
            return Rewriting.apply(tree.edits(fields, line), to: line)
        }
    }

    private static func number(_ members: inout [Member], _ fieldOf: (FieldPath) -> Int) {
        for index in members.indices {
            members[index].field = fieldOf(members[index].path)
            guard case .members(var inner) = members[index].content else { continue }
            number(&inner, fieldOf)
            members[index].content = .members(inner)
        }
    }

    /// Adds the edits that set members of an object.
    ///
    /// - Parameter object: The object's range, from its brace on.
    private static func edit(
        _ members: [Member], in object: Range<Int>, _ fields: [JSONField?], _ line: UnsafeBufferPointer<UInt8>,
        _ edits: inout [Rewriting.Edit]
    ) {
        var added: [Member] = []
        for member in members {
            // Of keys that are there twice the last counts: a value in an earlier object of that name is none.
            guard let field = fields[member.field], object.contains(field.range.lowerBound) else {
                added.append(member)
                continue
            }
            if case .members(let inner) = member.content, field.kind == .object {
                edit(inner, in: field.range, fields, line, &edits)
            } else {
                // Where an object is needed, anything else gives way.
                edits.append(.init(range: field.whole, bytes: render(member.content)))
            }
        }
        guard !added.isEmpty else { return }
        let start = object.lowerBound + 1
        let isEmpty = line[start...].first { $0 > 0x20 } == UInt8(ascii: "}")
        edits.append(.init(range: start..<start, bytes: list(added) + (isEmpty ? [] : [UInt8(ascii: ",")])))
    }

    private static func render(_ content: Content) -> [UInt8] {
        switch content {
        case .value(let value): value
        case .members(let members): render(members)
        }
    }

    private static func render(_ members: [Member]) -> [UInt8] { [UInt8(ascii: "{")] + list(members) + [UInt8(ascii: "}")] }

    private static func list(_ members: [Member]) -> [UInt8] {
        Array(
            members.map { JSONText.quoted($0.name) + [UInt8(ascii: ":")] + render($0.content) }
                .joined(separator: [UInt8(ascii: ",")]))
    }
}
