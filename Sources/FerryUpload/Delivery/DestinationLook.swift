import FerrySpool
import NIOCore
import NIOPosix

/// Looks at a destination without sending anything.
public struct DestinationLook: Sendable {
    private let options: UploadOptions
    /// The folders that segments come from.
    private let spools: [String]

    /// Takes the options of an upload: its destination, headers, certificates, proxies and patience.
    ///
    /// - Parameter spools: The folders that the segments come from: what lies in one of them takes none.
    public init(_ options: UploadOptions, spools: [String] = []) {
        self.options = options
        self.spools = spools
    }

    /// Makes one request that changes nothing.
    ///
    /// - Throws: ``UploadError`` when certificates cannot be used.
    public func run() async throws(UploadError) -> DestinationCheck {
        let template = RequestHead(options)
        if let direct = template.direct { return await look(at: direct) }
        let connector: Connector
        do throws(TransportSetupError) {
            connector = try Connector(options: options.transport, home: options.destination.url.origin)
        } catch {
            throw .transport(error)
        }
        if let reason = await template.kind.renewSecrets(at: .now()) { return .bad(reason.reason?.message ?? "no credentials") }
        let question = template.kind.question(at: options.destination.url)
        do {
            let time = Timestamp.now()
            var answer = try await ask(question, template, connector, at: time)
            if template.kind.learns(from: answer, at: time) {
                answer = try await ask(question, template, connector, at: .now())
            }
            return template.kind.meaning(of: answer, to: question)
        } catch let error as TransportError {
            return .bad(Verdict(error).reason?.message ?? "\(error)")
        } catch let error as ExchangeError {
            return .bad(Verdict(error.reason).reason?.message ?? "\(error)")
        } catch {
            return .bad("\(error)")
        }
    }

    private func ask(
        _ question: CheckQuestion, _ template: RequestHead, _ connector: Connector, at time: Timestamp
    ) async throws -> Answer {
        let connection = try await connector.connect(
            to: options.destination.url.origin, on: MultiThreadedEventLoopGroup.singleton.next())
        defer { connection.close() }
        let head = template.head(of: question, on: connection, at: time)
        return try await connection.send(
            Exchange(head: head, body: .bytes(ByteBuffer()), isHead: question.method == "HEAD"))
    }

    /// Looks at a place that may not answer, as a share whose server is gone, for as long as a delivery would wait for it.
    func look(at place: any DirectDestination) async -> DestinationCheck {
        let spools = spools
        switch await PatientCalls().run(patience: options.transport.idleTimeout, { _ in place.check(from: spools) }) {
        case .finished(let check): return check
        case .hangs: return .bad("it does not answer; see to its server or disk")
        case .cancelled: return .bad("stopped")
        }
    }
}
