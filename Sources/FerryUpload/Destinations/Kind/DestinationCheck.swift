/// A request that changes nothing at a destination, and tells whether it would take segments.
struct CheckQuestion: Equatable, Sendable {
    let method: String
    /// Path and query, percent-encoded.
    let target: String
}

/// What a look at a destination shows.
public enum DestinationCheck: Equatable, Sendable {
    /// It is there, and lets this sender in.
    case good(String)
    /// It is there; whether it takes segments this does not tell.
    case unclear(String)
    /// Something must be mended first.
    case bad(String)

    /// Judges the answer of an HTTP server to a question that it need not know.
    init(_ answer: Answer, to question: CheckQuestion) {
        let said = "\(question.method) is answered with HTTP \(answer.status)"
        switch answer.status {
        case 200..<300: self = .good(said)
        case 401, 403, 407: self = .bad("\(said): it lets nothing in with these credentials")
        case 404, 410: self = .unclear("\(said): if segments are answered so, too, the path is wrong")
        case 500...: self = .bad(said)
        default: self = .unclear(said)
        }
    }
}
