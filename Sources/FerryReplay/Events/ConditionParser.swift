/// Reads conditions, by recursive descent: `||` binds weakest, then `&&`, then `!`.
struct ConditionParser {
    private enum Token: Equatable {
        case path([String])
        case literal(Condition.Literal)
        case symbol(String)
        case end
    }

    private let characters: [Character]
    private var position = 0
    private var token = Token.end
    private var tokenStart = 0
    /// The paths in it, in the order of their fields.
    private(set) var paths: [FieldPath] = []
    private var depth = 0

    /// Reads a condition.
    ///
    /// - Parameter paths: What is extracted anyway; the condition's own paths come behind.
    static func parse(_ text: String, adding paths: inout [FieldPath]) throws(ConditionError) -> Condition {
        var parser = ConditionParser(characters: Array(text), paths: paths)
        try parser.advance()
        let condition = try parser.disjunction()
        guard parser.token == .end else { throw parser.error("'&&' or '||' is missing") }
        guard parser.paths.count <= 60 else { throw parser.error("more than 60 paths") }
        paths = parser.paths
        return condition
    }

    private init(characters: [Character], paths: [FieldPath]) {
        self.characters = characters
        self.paths = paths
    }

    private func error(_ message: String) -> ConditionError { ConditionError(message: message, column: tokenStart + 1) }

    private mutating func disjunction() throws(ConditionError) -> Condition {
        var conditions = [try conjunction()]
        while token == .symbol("||") {
            try advance()
            conditions.append(try conjunction())
        }
        return conditions.count == 1 ? conditions[0] : .any(conditions)
    }

    private mutating func conjunction() throws(ConditionError) -> Condition {
        var conditions = [try negation()]
        while token == .symbol("&&") {
            try advance()
            conditions.append(try negation())
        }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private mutating func negation() throws(ConditionError) -> Condition {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw error("nested too deeply") }
        if token == .symbol("!") {
            try advance()
            return .not(try negation())
        }
        if token == .symbol("(") {
            try advance()
            let inner = try disjunction()
            guard token == .symbol(")") else { throw error("')' is missing") }
            try advance()
            return inner
        }
        guard case .path(let components) = token else {
            throw error("a field is missing, like properties.total, or [\"a key\"] where its name has other characters")
        }
        try advance()
        if components == ["exists"], case .path(let path) = token {
            try advance()
            return .exists(field: field(path))
        }
        let comparison: Condition.Comparison
        switch token {
        case .symbol(let text):
            guard let known = Condition.Comparison(rawValue: text) else {
                throw error("a comparison is missing: == != < <= > >= contains starts")
            }
            comparison = known
        case .path(["contains"]): comparison = .contains
        case .path(["starts"]): comparison = .starts
        default: throw error("a comparison is missing: == != < <= > >= contains starts")
        }
        try advance()
        guard case .literal(let literal) = token else {
            throw error("a value is missing: \"text\", a number, true, false or null")
        }
        try advance()
        return .compare(field: field(components), comparison, literal)
    }

    private mutating func field(_ components: [String]) -> Int {
        let path = FieldPath(components: components)
        if let index = paths.firstIndex(of: path) { return index }
        paths.append(path)
        return paths.count - 1
    }

    private mutating func advance() throws(ConditionError) {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        tokenStart = position
        guard position < characters.count else {
            token = .end
            return
        }
        let rest = characters[position...]
        for symbol in ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")"] where rest.starts(with: Array(symbol)) {
            position += symbol.count
            token = .symbol(symbol)
            return
        }
        if rest.first == "\"" || rest.first == "'" {
            token = .literal(.text(Array(try text().utf8)))
            return
        }
        if let first = rest.first, first.isASCII, first.isNumber || first == "-" {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
            guard let number = Condition.Number(String(digits)) else { throw error("'\(String(digits))' is no number") }
            position += digits.count
            token = .literal(.number(number))
            return
        }
        token = try word()
    }

    private mutating func text() throws(ConditionError) -> String {
        let quote = characters[position]
        var text = ""
        var index = position + 1
        while index < characters.count, characters[index] != quote {
            if characters[index] == "\\", index + 1 < characters.count { index += 1 }
            text.append(characters[index])
            index += 1
        }
        guard index < characters.count else { throw error("the text is not closed") }
        position = index + 1
        return text
    }

    /// Whether a key in brackets begins here, as in `["a key"]`.
    private var isAtQuotedKey: Bool {
        position + 1 < characters.count && characters[position] == "[" && "\"'".contains(characters[position + 1])
    }

    /// What is wrong with the character here, where a field should go on.
    private var unexpected: String {
        guard position < characters.count else { return "a field ends with '.'" }
        let hint = ["=": "==", "&": "&&", "|": "||"][characters[position]].map { " (did you mean '\($0)'?)" } ?? ""
        return "'\(characters[position])' was not expected\(hint)"
    }

    private mutating func word() throws(ConditionError) -> Token {
        var components: [String] = []
        while true {
            let part = characters[position...].prefix { $0.isLetter || $0.isNumber || "_-$@".contains($0) }
            guard !part.isEmpty || components.isEmpty && isAtQuotedKey else {
                throw ConditionError(message: unexpected, column: min(position, characters.count) + 1)
            }
            if !part.isEmpty { components.append(String(part)) }
            position += part.count
            // `properties["a key"]`, and `["a key"]` of the event itself.
            while isAtQuotedKey {
                position += 1
                components.append(try text())
                guard position < characters.count, characters[position] == "]" else { throw error("']' is missing") }
                position += 1
            }
            guard position < characters.count, characters[position] == "." else { break }
            position += 1
        }
        guard components.count <= FieldPath.deepest else { throw error("a field is more than \(FieldPath.deepest) deep") }
        switch components {
        case ["true"]: return .literal(.boolean(true))
        case ["false"]: return .literal(.boolean(false))
        case ["null"]: return .literal(.null)
        default: return .path(components)
        }
    }
}
