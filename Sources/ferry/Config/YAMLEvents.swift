import CYAML

/// The events of a YAML text in their order, as libyaml finds them.
struct YAMLEvents: ~Copyable {
    enum Event {
        /// The stream's and the documents' borders.
        case streamStart, streamEnd, documentStart, documentEnd
        case alias(of: String)
        case scalar(String, anchor: String?)
        case sequenceStart(anchor: String?)
        case sequenceEnd
        case mappingStart(anchor: String?)
        case mappingEnd
    }

    private static let noMemory = "there is no memory to read it"

    private let text: UnsafeMutableBufferPointer<UInt8>
    /// In a place of its own: libyaml keeps its address.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    init(_ bytes: [UInt8]) throws(YAMLError) {
        parser = .allocate(capacity: 1)
        text = .allocate(capacity: bytes.count)
        _ = text.initialize(from: bytes)
        // Clears all of the parser first, and fails for want of memory only.
        guard yaml_parser_initialize(parser) == 1 else { throw YAMLError(line: 1, message: Self.noMemory) }
        // Without it, libyaml guesses from the first bytes.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    /// Returns the next event and the line where it begins. After ``Event/streamEnd`` there is none.
    mutating func next() throws(YAMLError) -> (event: Event, line: Int) {
        var raw = yaml_event_t()
        guard yaml_parser_parse(parser, &raw) == 1 else { throw error }
        defer { yaml_event_delete(&raw) }
        return (Self.event(raw), Int(raw.start_mark.line) + 1)
    }

    private static func event(_ raw: yaml_event_t) -> Event {
        switch raw.type {
        case YAML_STREAM_START_EVENT: .streamStart
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias(of: string(raw.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            // By its length: a scalar may hold the character 0.
            .scalar(
                String(decoding: UnsafeBufferPointer(start: raw.data.scalar.value, count: raw.data.scalar.length), as: UTF8.self),
                anchor: string(raw.data.scalar.anchor))
        case YAML_SEQUENCE_START_EVENT: .sequenceStart(anchor: string(raw.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_START_EVENT: .mappingStart(anchor: string(raw.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT: .mappingEnd
        // No event is what libyaml gives after the stream's end.
        default: .streamEnd
        }
    }

    private static func string(_ text: UnsafePointer<yaml_char_t>?) -> String? { text.map { String(cString: $0) } }

    private var error: YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? Self.noMemory
        guard parser.pointee.error == YAML_READER_ERROR else {
            let context = parser.pointee.context.map { String(cString: $0) + " " } ?? ""
            return YAMLError(line: Int(parser.pointee.problem_mark.line) + 1, message: "no YAML: \(context)\(problem)")
        }
        // Where bytes are no text libyaml knows no line.
        let line = 1 + text.prefix(parser.pointee.problem_offset).count { $0 == UInt8(ascii: "\n") }
        let isForeign = problem.contains("UTF-8") || problem == "invalid Unicode character"
        return YAMLError(
            line: line, message: isForeign ? "it is not UTF-8; save the file in that encoding" : "no YAML: \(problem)")
    }
}
