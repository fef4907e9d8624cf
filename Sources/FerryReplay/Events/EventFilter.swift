public import FerrySpool

/// Which events are replayed, and how they are changed: read once, asked for every line.
public struct EventFilter: Sendable {
    private let extractor: FieldExtractor
    private let condition: Condition?
    private let since: Timestamp?
    private let until: Timestamp?
    private let timeField: Int?
    private let settings: SettingTree
    private let shiftsTime: Bool
    /// Added to the time of every event: fixed before the first one is staged, so that every try sends the same bytes.
    package var shift: Duration?

    /// What an event needs to pass, and what becomes of it.
    public struct Options: Sendable {
        /// Events from this time on pass; `nil`: there is no first time.
        public var since: Timestamp?
        /// Events before this time pass; `nil`: there is no last time.
        public var until: Timestamp?
        /// Where the event's time stands, as a dotted path; `nil`: the segment's time counts.
        public var timeField: String?
        /// A condition: see the documentation of `--where`.
        public var condition: String?
        /// `key=value`.
        public var settings: [String] = []
        /// The first event happens now, the others as long after it as they did.
        public var shiftsTimeToNow = false

        /// Creates options that let every event pass unchanged.
        public init() {}
    }

    /// Reads the options; throws for the first condition, field or setting that cannot be read.
    package init(_ options: Options) throws(ConditionError) {
        var paths: [FieldPath] = []
        func add(_ path: FieldPath) -> Int {
            if let index = paths.firstIndex(of: path) { return index }
            paths.append(path)
            return paths.count - 1
        }
        since = options.since
        until = options.until
        if let text = options.timeField {
            guard let path = FieldPath(text) else {
                throw ConditionError(message: "the time field '\(text)' is no field", column: nil)
            }
            timeField = add(path)
        } else {
            timeField = nil
        }
        var settings = SettingTree()
        for text in options.settings {
            guard let setting = Rewriting.Setting(text) else {
                throw ConditionError(
                    message: "the setting '\(text)' must be like key=value or properties.total=3", column: nil)
            }
            settings.add(setting)
        }
        settings.number(add)
        self.settings = settings
        condition = if let text = options.condition { try ConditionParser.parse(text, adding: &paths) } else { nil }
        shiftsTime = options.shiftsTimeToNow && timeField != nil
        guard paths.count <= FieldExtractor.mostPaths else {
            throw ConditionError(message: "more than \(FieldExtractor.mostPaths) fields", column: nil)
        }
        extractor = FieldExtractor(paths)
    }

    /// Whether lines have to be looked at; otherwise whole segments pass as they are.
    package var looksIntoEvents: Bool { !extractor.paths.isEmpty }
    /// Whether what passes is changed.
    var rewrites: Bool { !settings.isEmpty || shiftsTime }
    var knowsTimes: Bool { timeField != nil }

    /// Makes space for the fields of one line after another.
    func makeFields() -> [JSONField?] { Array(repeating: nil, count: extractor.paths.count) }

    enum Verdict {
        case passes(Timestamp?)
        case isOut
        /// It is no JSON object, or has no readable time where one is asked for.
        case unreadable
    }

    func judge(_ line: UnsafeBufferPointer<UInt8>, _ fields: inout [JSONField?]) -> Verdict {
        guard extractor.extract(line, into: &fields) else { return .unreadable }
        var time: Timestamp?
        if let timeField {
            time = EventTime.read(fields[timeField], line)
            guard let time else { return .unreadable }
            if !isInRange(time) { return .isOut }
        }
        if let condition, !condition.holds(fields, line) { return .isOut }
        return .passes(time)
    }

    func isInRange(_ time: Timestamp) -> Bool { (since.map { time >= $0 } ?? true) && (until.map { time < $0 } ?? true) }

    /// Returns the line as it is to be sent; `nil` when it is not changed.
    func rewritten(_ line: UnsafeBufferPointer<UInt8>, _ fields: [JSONField?], time: Timestamp?) -> [UInt8]? {
        guard rewrites else { return nil }
        var edits = settings.edits(fields, line)
        if shiftsTime, let timeField, let field = fields[timeField], let time, let shift {
            edits.append(.init(range: field.whole, bytes: EventTime.write(time + shift, like: field, line)))
        }
        return Rewriting.apply(edits, to: line)
    }

    /// Whether the first event's time is to be known before anything is staged.
    var needsShift: Bool { shiftsTime && shift == nil }

    private struct FoundError: Error {}

    /// Returns the time of the first event that passes; files that cannot be read are passed over.
    func firstTime(in files: [ReplayFile], limit: ByteCount) -> Timestamp? {
        var fields = makeFields()
        for file in files {
            var first: Timestamp?
            try? file.forEachLine(limit: limit) { line in
                guard case .passes(let time?) = judge(line, &fields) else { return }
                first = time
                throw FoundError()
            }
            if let first { return first }
        }
        return nil
    }
}
