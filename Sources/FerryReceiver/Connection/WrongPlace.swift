import FerrySpool
import HTTPTypes
import Hummingbird

/// Tells of requests to a path that is not the receiver's: a mistyped URL, or a program that sends something else.
struct WrongPlace: RouterMiddleware {
    let onEvent: @Sendable (ReceiverEvent) -> Void

    func handle(
        _ request: Request, context: PeerContext, next: (Request, PeerContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as HTTPError where error.status == .notFound {
            let wanted = "\(request.method.rawValue) \(request.uri.path)".printable(limit: 100)
            let refused = RefusedRequestError(.notFound, "there is no \(wanted) here; segments go to POST /v1/segments")
            onEvent(.refused(Refusal(refused, from: Sender(at: context.address))))
            var response = refused.response
            // RFC 9110, section 9.3.2: nothing follows the head of this answer.
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }
}
