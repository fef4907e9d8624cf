import FerrySpool
import HTTPTypes
import Hummingbird
import NIOCore

/// What the receiver says.
enum Answer {
    /// - Parameters:
    ///   - spool: The ID of the spool that has them now.
    ///   - mostJoined: The most bytes of several segments in one body.
    static func accepted(_ segments: [ReceivedSegment], in spool: String, mostJoined: ByteCount) -> Response {
        let texts = segments.map {
            let events = $0.events.map { "\"events\":\($0)," } ?? ""
            return "{\"segment\":\($0.name.jsonQuoted),\(events)\"duplicate\":\($0.isDuplicate)}"
        }
        var answer = json(.ok, texts.count == 1 ? texts[0] : "{\"segments\":[\(texts.joined(separator: ","))]}")
        answer.headers[.ferrySpool] = spool
        answer.headers[.ferryAccepts] = "joined;bytes=\(mostJoined.bytes)"
        return answer
    }

    /// - Parameter more: Further members, as JSON text with a leading comma.
    static func refusal(_ status: HTTPResponse.Status, _ message: String, more: String = "") -> Response {
        json(status, "{\"error\":\(message.jsonQuoted)\(more)}")
    }

    private static func json(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    /// Nothing more can be read from a connection that broke.
    private static func closing(_ answer: Response) -> Response {
        var answer = answer
        answer.headers[.connection] = "close"
        return answer
    }

    static func response(_ refusal: IntakeRefusal) -> Response {
        switch refusal {
        case .tooLarge(let limit): Self.refusal(.contentTooLarge, "the body is larger than \(limit)")
        case .damaged(let damage) where damage.kind == .tooLarge: Self.refusal(.contentTooLarge, "\(damage)")
        case .damaged(let damage): Self.refusal(.badRequest, "\(damage)", more: ",\"offset\":\(damage.offset)")
        case .notJSONLines(let problem):
            Self.refusal(.badRequest, "\(problem)", more: ",\"line\":\(problem.line),\"column\":\(problem.column)")
        case .conflict(let key):
            Self.refusal(.unprocessableContent, "the key \(key) came before, with other bytes")
        case .inPart(let name):
            Self.refusal(.contentTooLarge, "a half of \(name) came before: send it in halves, of which that one is known")
        case .circle(let circle): Self.refusal(.init(code: 508, reasonPhrase: "Loop Detected"), "\(circle)")
        case .ownSegment(let name):
            Self.refusal(
                .misdirectedRequest,
                "\(name) is pending in this receiver's spool and was never received: is it sent from that spool?")
        // A state that passes: the copy ends, or is rejected.
        case .unsoundThere(let name):
            Self.refusal(.conflict, "another \(name) lies in this receiver's folder, and is damaged or not whole yet")
        case .longerThanNamed: Self.refusal(.badRequest, "more follows the last segment that Ferry-Segment names")
        case .shorterThanNamed: Self.refusal(.badRequest, "the body ends before the last segment that Ferry-Segment names")
        // The link's fault: the sender tries again.
        case .aborted: Self.closing(Self.refusal(.requestTimeout, "the connection broke within the body"))
        case .tooSlow: Self.refusal(.requestTimeout, "the body comes too slowly")
        case .file(let error) where error.isOutOfSpace, .notAdmitted(let error) where error.isOutOfSpace:
            Self.refusal(.init(code: 507, reasonPhrase: "Insufficient Storage"), "\(error)")
        case .file(let error), .notAdmitted(let error): Self.refusal(.internalServerError, "\(error)")
        }
    }
}
