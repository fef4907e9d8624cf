@testable import FerryReplay
@testable import FerrySpool

extension FuzzTarget {
    /// Conditions, settings and times of events, with events: the first line is the condition, the second a setting, the third the field of
    /// the time, and all others are events.
    static let conditions = FuzzTarget("conditions", longest: 1024) { bytes in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count >= 3 else { return }
        let texts = lines.prefix(3).map { String(decoding: $0, as: UTF8.self) }
        var options = EventFilter.Options()
        options.condition = texts[0].isEmpty ? nil : texts[0]
        options.settings = texts[1].isEmpty ? [] : [texts[1]]
        options.timeField = texts[2].isEmpty ? nil : texts[2]
        options.shiftsTimeToNow = true
        var filter: EventFilter
        do throws(ConditionError) { filter = try EventFilter(options) } catch {
            try expect(error.column.map { (1...bytes.count + 1).contains($0) } ?? true, "a mistake is in the text")
            return
        }
        filter.shift = .milliseconds(1)
        for line in lines.dropFirst(3) { try line.withUnsafeBufferPointer { try expectSound(filter, options, $0) } }
    }

    private static func expectSound(
        _ filter: EventFilter, _ options: EventFilter.Options, _ line: UnsafeBufferPointer<UInt8>
    ) throws {
        var fields = filter.makeFields()
        guard case .passes(let time) = filter.judge(line, &fields) else { return }
        var checker = JSONLineChecker()
        let isEvent = checker.check(line) == .event
        guard isEvent, let rewritten = filter.rewritten(line, fields, time: time) else { return }
        try rewritten.withUnsafeBufferPointer { rewritten in
            let verdict = checker.check(rewritten)
            // A value may be as deep as events may, and stands deeper then.
            if case .invalid(_, let reason) = verdict, reason.hasPrefix("nested more") { return }
            try expect(verdict == .event, "a changed event is an event")
            guard let text = options.settings.first, let setting = Rewriting.Setting(text) else { return }
            var found: [JSONField?] = [nil]
            try expect(FieldExtractor([setting.path]).extract(rewritten, into: &found), "a changed event is an object")
            guard options.timeField == nil else { return }
            let value = found[0].map { Array(rewritten[$0.whole]) }
            try expect(value == trimmed(setting.value), "a field that is set has its value")
        }
    }

    private static func trimmed(_ value: [UInt8]) -> [UInt8] {
        let first = value.firstIndex { $0 > 0x20 } ?? 0
        let last = value.lastIndex { $0 > 0x20 } ?? 0
        return Array(value[first...last])
    }

    /// The lists of sources of replays.
    static let replayLists = FuzzTarget("replay-lists", longest: 2048) { bytes in
        guard let files = ReplayList.files(bytes) else { return }
        let again = ReplayList.files(ReplayList.bytes(of: files))
        try expect(again == files, "a list reads as it was written")
        for file in files {
            try expect(file.size >= .zero, "no size is negative")
            try expect(ForeignName.isLegal(file.segment.fileName), "what is replayed has a name that a file can have")
        }
    }
}
