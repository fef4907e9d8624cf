import FerrySpool
import NIOCore
import NIOPosix

/// Looks at a destination without sending anything.
public struct DestinationLook: Sendable {
    private let options: UploadOptions

    /// Takes the options of an upload: its destination, headers, certificates, proxies and patience.
    public init(_ options: UploadOptions) { self.options = options }

    /// Makes one request that changes nothing.
    ///
    /// - Throws: ``UploadError`` when certificates cannot be used.
    public func run() async throws(UploadError) -> DestinationCheck {
        let template = RequestHead(options)
        if let direct = template.direct { return await blocking { direct.check() } }
        let url = options.destination.url
        let connector: Connector
        do throws(TransportSetupError) {
            connector = try Connector(options: options.transport, home: url.origin)
        } catch {
            throw .transport(error)
        }
        if let reason = await template.kind.renewSecrets(at: .now()) { return .bad(reason.reason?.message ?? "no credentials") }
        let question = template.kind.question(at: url)
        do {
            let connection = try await connector.connect(to: url.origin, on: MultiThreadedEventLoopGroup.singleton.next())
            defer { connection.close() }
            let head = template.head(of: question, on: connection, at: .now())
            let answer = try await connection.send(
                Exchange(head: head, body: .bytes(ByteBuffer()), isHead: question.method == "HEAD"))
            return template.kind.meaning(of: answer, to: question)
        } catch let error as TransportError {
            return .bad(Verdict(error).reason?.message ?? "\(error)")
        } catch let error as ExchangeError {
            return .bad(Verdict(error.reason).reason?.message ?? "\(error)")
        } catch {
            return .bad("\(error)")
        }
    }
}
