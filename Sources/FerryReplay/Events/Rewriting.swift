import FerrySpool

/// Changes to a line: values put in the place of others, or added.
struct Rewriting {
    /// A field to set, and the JSON text to set it to.
    struct Setting: Equatable {
        let path: FieldPath
        let value: [UInt8]

        /// Reads `key=value`. A value that is no JSON is a string.
        init?(_ text: String) {
            guard let equals = text.firstIndex(of: "="), let path = FieldPath(String(text[..<equals])) else { return nil }
            let value = String(text[text.index(after: equals)...])
            self.path = path
            self.value = value.isJSONValue ? Array(value.utf8) : JSONText.quoted(value)
        }
    }

    /// One change to the bytes of a line.
    struct Edit {
        let range: Range<Int>
        let bytes: [UInt8]
    }

    /// What sets a field.
    ///
    /// - Parameters:
    ///   - field: The field as it is; `nil` when there is none.
    ///   - parents: The objects on the way to it, from the first component on, as far as they are there.
    static func edit(_ setting: Setting, field: JSONField?, parents: [JSONField?], _ line: UnsafeBufferPointer<UInt8>) -> Edit {
        if let field { return Edit(range: field.whole, bytes: setting.value) }
        let names = setting.path.components
        // Into the deepest object that is there.
        var depth = 0
        var start = line.firstIndex(of: UInt8(ascii: "{")) ?? 0
        while depth < parents.count, let parent = parents[depth], parent.kind == .object {
            start = parent.range.lowerBound
            depth += 1
        }
        // Something else stands where an object is needed: it gives way.
        if depth < parents.count, let parent = parents[depth] {
            return Edit(range: parent.whole, bytes: nested(names[(depth + 1)...], setting.value))
        }
        var bytes = JSONText.quoted(names[depth]) + [UInt8(ascii: ":")] + nested(names[(depth + 1)...], setting.value)
        let isEmpty = line[(start + 1)...].first { $0 > 0x20 } == UInt8(ascii: "}")
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        return Edit(range: start + 1..<start + 1, bytes: bytes)
    }

    private static func nested(_ names: ArraySlice<String>, _ value: [UInt8]) -> [UInt8] {
        names.reversed().reduce(value) { inner, name in
            [UInt8(ascii: "{")] + JSONText.quoted(name) + [UInt8(ascii: ":")] + inner + [UInt8(ascii: "}")]
        }
    }

    /// The line with its changes.
    static func apply(_ edits: [Edit], to line: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where edit.range.lowerBound >= position {
            bytes += line[position..<edit.range.lowerBound]
            bytes += edit.bytes
            position = edit.range.upperBound
        }
        return bytes + line[position...]
    }
}

extension String {
    /// Whether the text is one JSON value.
    fileprivate var isJSONValue: Bool {
        var checker = JSONLineChecker()
        return Array(utf8).withUnsafeBufferPointer { if case .event = checker.check($0) { true } else { false } }
    }
}
