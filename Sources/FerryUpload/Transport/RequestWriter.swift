import NIOCore
import NIOHTTP1

/// Passes requests on as the bytes that they are already.
///
/// The head of a request is made once as text; NIO's encoder would take it apart and together again for every segment. Its response
/// decoder must see a request's head go by, so that goes through the pipeline, and ends here.
final class RequestWriter: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = IOData

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let bytes): context.write(wrapOutboundOut(bytes), promise: promise)
        // A request ends with its last byte: its head tells how many they are.
        case .head, .end: promise?.succeed()
        }
    }
}
