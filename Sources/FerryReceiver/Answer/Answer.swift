import FerrySpool
import HTTPTypes
import Hummingbird
import NIOCore

/// What the receiver says.
enum Answer {
    /// Makes the answer to a request whose segments were taken.
    ///
    /// - Parameters:
    ///   - spool: The ID of the spool that has them now; `nil` where an object store has them.
    ///   - mostJoined: The most bytes of several segments in one body.
    static func accepted(_ segments: [ReceivedSegment], in spool: String? = nil, mostJoined: ByteCount) -> Response {
        let texts = segments.map {
            let events = $0.events.map { "\"events\":\($0)," } ?? ""
            return "{\"segment\":\($0.name.jsonQuoted),\(events)\"duplicate\":\($0.isDuplicate)}"
        }
        var answer = json(.ok, texts.count == 1 ? texts[0] : "{\"segments\":[\(texts.joined(separator: ","))]}")
        if let spool { answer.headers[.ferrySpool] = spool }
        answer.headers[.ferryAccepts] = AcceptedBodiesField.text(mostJoined: mostJoined)
        return answer
    }

    static func json(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
