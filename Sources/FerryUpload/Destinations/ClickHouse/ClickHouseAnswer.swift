import FerrySpool

/// An answer of a ClickHouse server, read: whether it is one, and the exception that it tells of.
struct ClickHouseAnswer {
    /// What follows from an answer.
    enum Action: Equatable {
        /// - Parameter mayHaveArrived: Whether the rows, or some of them, may be in the table all the same.
        case verdict(Verdict, mayHaveArrived: Bool = false)
        /// The server is older than a setting that Ferry adds: the request again, without it.
        case leaveOut(ClickHouseLocation.OwnSetting)
    }

    private let status: Int
    private let code: Int?
    private let message: String
    /// Of which row the message tells, from 1.
    private let row: Int?
    private let general: Verdict
    private let isOfClickHouse: Bool
    /// An exception may stand at the end of an answer that began well.
    private let isWhole: Bool
    private let saysNothing: Bool
    /// The first of what it says.
    private let text: String
    /// Whether it is cut off within that.
    private let isCutShort: Bool

    init(_ answer: Answer, at now: Timestamp) {
        status = answer.status
        let (said, most) = (answer.said, Int(TransportOptions.answerBodyKept.bytes))
        saysNothing = said.isEmpty
        isCutShort = !answer.isWhole && said.count <= most
        text = String(decoding: said.prefix(most), as: UTF8.self)
        let exception = Self.exception(in: text)
        // A server that is not read to the end by its client may have no more than the field, with status 200.
        let field = answer.header(Self.codeField) ?? answer.trailer(Self.codeField)
        code = field.flatMap { Int($0) } ?? exception?.code
        message = exception?.message ?? ""
        row = Self.row(in: message)
        general = Verdict(answer, at: now)
        isOfClickHouse = answer.headers.contains { $0.name.lowercased().hasPrefix("x-clickhouse-") }
        isWhole = answer.isWhole
    }

    private static let codeField = "x-clickhouse-exception-code"

    /// Whether the user is let in, and may not do what was asked (ACCESS_DENIED).
    var isNotGranted: Bool { code == 497 }

    /// Returns what follows for a request.
    ///
    /// - Parameter said: Which of Ferry's own settings it had.
    func action(said: Set<ClickHouseLocation.OwnSetting>) -> Action {
        guard let code else { return .verdict(plainVerdict) }
        if code == Self.unknownSetting,
            let setting = ClickHouseLocation.OwnSetting.allCases.first(where: {
                said.contains($0) && message.contains($0.rawValue)
            })
        {
            return .leaveOut(setting)
        }
        switch ClickHouseError(code: code, message: message) {
        case .access:
            return .verdict(
                .misconfigured(
                    reason("; check user and password, and what the user may do: INSERT", kind: Verdict.Reason.access)))
        case .setup(let hint): return .verdict(.misconfigured(reason("; \(hint)")))
        case .busy: return .verdict(.unavailable(reason(), retryAfter: retryAfter))
        case .interrupted: return .verdict(.unavailable(reason(), retryAfter: retryAfter), mayHaveArrived: true)
        case .size: return .verdict(.tooLarge(reason()))
        // Of which kind it is may stand in what is missing.
        case .content where isCutShort: return .verdict(.doubtful(reason(Self.cutOff)))
        case .content: return .verdict(.refused(reason(), body: text))
        case .other: return .verdict(.doubtful(reason()))
        }
    }

    private static let unknownSetting = 115
    private static let cutOff = "; the answer was cut off before its end"

    /// What an answer without an exception means.
    private var plainVerdict: Verdict {
        switch general {
        case .delivered where !isOfClickHouse || !saysNothing:
            .misconfigured(reason("; this is no answer of ClickHouse to an INSERT: check host and port"))
        // What is missing may say that it is a table or a setting, and no URL.
        case .delivered where !isWhole, .misconfigured where isCutShort: .doubtful(reason(Self.cutOff))
        case .refused where text.contains("You must use port"):
            .misconfigured(reason("; this is its port for its own programs: it wants the one for HTTP"))
        case .refused: .doubtful(reason())
        default: general
        }
    }

    private func reason(_ hint: String = "", kind: String = "status") -> Verdict.Reason {
        let place = row.map { " in row \($0)" } ?? ""
        let said =
            code.map { ": code \($0)\(place)" + (message.isEmpty ? "" : ", \(message)") } ?? (text.isEmpty ? "" : ": \(text)")
        let line = said.split(whereSeparator: \.isNewline).joined(separator: " ")
        return Verdict.Reason(kind: kind, status: status, message: "HTTP \(status)\(line.printable(limit: 300))\(hint)")
    }

    private var retryAfter: Duration? {
        if case .unavailable(_, let retryAfter) = general { return retryAfter }
        return nil
    }

    /// Returns the exception of a text: `Code: 60, e.displayText() = DB::Exception: … , e.what() = DB::Exception`, or as newer servers write it,
    /// `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)`; at its start, or behind what the statement had brought before.
    private static func exception(in text: String) -> (code: Int, message: String)? {
        guard let start = text.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("Code: ") })?.startIndex else {
            return nil
        }
        let rest = text[start...].drop { !$0.isNumber }
        let digits = rest.prefix { $0.isNumber }
        // A number that nothing follows may go on.
        guard digits.endIndex < rest.endIndex, let code = Int(digits.prefix(9)) else { return nil }
        let message = rest.firstRange(of: "DB::Exception: ").map { rest[$0.upperBound...] } ?? ""
        let end = [", e.what() = ", " (version "].compactMap { message.firstRange(of: $0)?.lowerBound }.min()
        return (code, String(message[..<(end ?? message.endIndex)]))
    }

    /// Returns the number in `(at row 3)`. What is shown of the row itself stands before it.
    private static func row(in message: String) -> Int? {
        guard let start = message.ranges(of: "(at row ").last?.upperBound else { return nil }
        let digits = message[start...].prefix { $0 != ")" }
        return digits.utf8.count < 16 ? Int(digits).flatMap { $0 > 0 ? $0 : nil } : nil
    }
}
