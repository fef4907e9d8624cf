import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import FerryReceiver

@Suite("How long a connection may stay idle")
struct ConnectionGuardTests {
    private let channel = EmbeddedChannel(
        handler: ConnectionGuard(Connections(most: 10, perAddress: 10), patience: .seconds(30), endPatience: .seconds(8)) {
            _, _ in
        })

    private let head = HTTPRequestPart.head(HTTPRequest(method: .post, scheme: "http", authority: "h", path: "/v1/segments"))

    init() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }

    private func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test("One that sends no request is closed when its time is over, and not before")
    func silent() {
        channel.read()
        pass(29)
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }

    @Test("A body that the receiver does not read for long is not cut off, one that the client does not send is")
    func body() throws {
        channel.read()
        try channel.writeInbound(head)
        // The receiver has enough to do with what it has.
        pass(600)
        #expect(channel.isActive)
        channel.read()
        pass(29)
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "a")))
        channel.read()
        pass(29)
        #expect(channel.isActive)
        pass(31)
        #expect(!channel.isActive)
    }

    @Test("A client that waits for its answer is not closed; after the answer it has its time for the next request")
    func answered() throws {
        channel.read()
        try channel.writeInbound(head)
        channel.read()
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.read()
        pass(600)
        #expect(channel.isActive)
        try answer()
        pass(29)
        #expect(channel.isActive)
        pass(31)
        #expect(!channel.isActive)
    }

    @Test("Bytes that never become a part of a request keep no connection open")
    func drips() {
        channel.read()
        for _ in 0..<29 {
            pass(1)
            channel.read()
        }
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }
}
