import FerrySpool
import HTTPTypes
import Hummingbird
import NIOCore

/// What a request is refused with: the status, and why, in words for people and JSON for programs.
struct RefusedRequestError: Error {
    let status: HTTPResponse.Status
    let message: String
    /// Further members, as JSON text with a leading comma.
    var more = ""
    var retryAfter: Duration?
    /// The reason for the log, where the client is to learn less.
    var detail: String?
    /// Nothing more is to be read from the connection.
    var closes = false
    /// A file of the receiver's is the cause, which is told by itself.
    var isFailure = false

    init(_ status: HTTPResponse.Status, _ message: String, more: String = "", retryAfter: Duration? = nil, closes: Bool = false) {
        self.status = status
        self.message = message
        self.more = more
        self.retryAfter = retryAfter
        self.closes = closes
    }

    var response: Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    var text: String { "{\"error\":\(message.jsonQuoted)\(more)}\n" }

    var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let retryAfter { headers[.retryAfter] = "\(max(1, (retryAfter.wholeMilliseconds + 999) / 1000))" }
        if closes { headers[.connection] = "close" }
        return headers
    }

    /// RFC 4918, section 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    /// RFC 5842, section 7.2.
    private static let loopDetected = HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected")

    init(_ refusal: IntakeError) {
        switch refusal {
        case .tooLarge(let limit): self.init(.contentTooLarge, "the body is larger than \(limit)")
        case .largerThanQuota(let limit):
            self.init(.contentTooLarge, "the body is larger than the \(limit) that this machine may have here")
        case .tooDense(let ratio):
            self.init(
                .contentTooLarge, "the body inflates to more than \(ratio) times its size: send it in halves, or compressed less")
        case .damaged(let damage) where damage.kind == .tooLarge: self.init(.contentTooLarge, "\(damage)")
        case .damaged(let damage): self.init(.badRequest, "\(damage)", more: ",\"offset\":\(damage.offset)")
        case .notJSONLines(let problem):
            self.init(.badRequest, "\(problem)", more: ",\"line\":\(problem.line),\"column\":\(problem.column)")
        case .conflict(let key): self.init(.unprocessableContent, "the key \(key) came before, with other bytes")
        case .inPart(let name):
            self.init(.contentTooLarge, "a half of \(name) came before: send it in halves, of which that one is known")
        case .circle(let circle): self.init(Self.loopDetected, "\(circle)")
        case .ownSegment(let name):
            self.init(
                .misdirectedRequest,
                "\(name) is pending in this receiver's spool and was never received: is it sent from that spool?")
        // A state that passes: the copy ends, or is rejected.
        case .unsoundThere(let name):
            self.init(.conflict, "another \(name) lies in this receiver's folder, and is damaged or not whole yet")
        case .sentOn(let name, let limit):
            self.init(
                Self.loopDetected,
                "\(name) was in this receiver's spool and was sent on; to be taken again it is larger than \(limit), and in halves it would arrive twice"
            )
        case .longerThanNamed: self.init(.badRequest, "more follows the last segment that Ferry-Segment names")
        case .shorterThanNamed: self.init(.badRequest, "the body ends before the last segment that Ferry-Segment names")
        case .overQuota(let limit):
            self.init(
                Self.insufficientStorage, "this machine may have \(limit) here, and has no room left for it",
                retryAfter: .seconds(60))
        // The link's fault: the sender tries again. Nothing more can be read from a connection that broke.
        case .aborted:
            self.init(
                .requestTimeout, "the connection broke within the body, or stood still for longer than the receiver waits",
                closes: true)
        case .tooSlow: self.init(.requestTimeout, "the body comes too slowly")
        case .store(let reason, let retryAfter):
            self.init(.serviceUnavailable, "the receiver's object store does not take it now", retryAfter: retryAfter)
            detail = reason
        case .tooLargeForStore(let reason):
            self.init(.contentTooLarge, "the body is larger than the receiver's object store takes")
            detail = reason
        // Where its files lie is the receiver's own affair: its log names them.
        case .file(let error) where error.isOutOfSpace, .notAdmitted(let error) where error.isOutOfSpace:
            self.init(Self.insufficientStorage, "the receiver cannot store it: \(error.reason)")
        // A state that passes, and is not the segment's.
        case .file(let error) where error.isOutOfFiles, .notAdmitted(let error) where error.isOutOfFiles:
            self.init(.serviceUnavailable, "the receiver has too many files open", retryAfter: .seconds(1))
        case .file(let error), .notAdmitted(let error):
            self.init(.internalServerError, "the receiver cannot store it: \(error.reason)")
        }
        switch refusal {
        case .file, .notAdmitted: isFailure = true
        default: break
        }
    }
}
