import FerrySpool

/// Changes to a line: values put in the place of others, or added.
enum Rewriting {
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

    /// Returns the line with its changes. Of two that overlap the one that begins first counts, of two that begin together the first one.
    static func apply(_ edits: [Edit], to line: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = 0
        let ordered = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, edit) in ordered where edit.range.lowerBound >= position {
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
