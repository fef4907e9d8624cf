import FerrySpool
import NIOCore
import NIOPosix

/// Asks services for keys: over one connection, without a proxy, which would ask another machine's.
enum KeyClient {
    /// A service that is there answers within milliseconds. AWS's tools wait as long.
    private static let patience = Duration.seconds(1)
    private static let longestTokenFile = ByteCount.kibibytes(64)

    /// Asks a service once.
    static let ask: ServedKeys.Asking = { service in
        do throws(KeyServiceError) {
            return .success(try await keys(of: service))
        } catch {
            return .failure(error)
        }
    }

    private static func keys(of service: KeyService) async throws(KeyServiceError) -> TemporaryKeys {
        var dialogue = KeyDialogue(service, authorization: try await authorization(for: service))
        var options = TransportOptions()
        options.connectTimeout = patience
        options.idleTimeout = patience
        let connector: Connector
        do throws(TransportSetupError) {
            connector = try Connector(options: options, home: service.url.origin)
        } catch {
            throw KeyServiceError(description: error.description)
        }
        var open: HTTPConnection?
        defer { open?.close() }
        while true {
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(dialogue.question, to: service.url.origin, connector, &open)
            } catch {
                throw KeyServiceError(description: Verdict(error).reason?.message ?? "\(error)", isUnreachable: true)
            }
            if let keys = try dialogue.take(answer) { return keys }
        }
    }

    private static func send(
        _ question: KeyDialogue.Question, to origin: Origin, _ connector: Connector, _ open: inout HTTPConnection?
    ) async throws(TransportError) -> Answer {
        let connection: HTTPConnection
        if let open, open.isOpen {
            connection = open
        } else {
            connection = try await connector.connect(to: origin, on: MultiThreadedEventLoopGroup.singleton.next())
        }
        open = connection
        var fields = [("Host", origin.hostHeader), ("User-Agent", RequestHead.userAgent)]
        if question.method == "PUT" { fields.append(("Content-Length", "0")) }
        fields += question.fields.map { ($0.key, $0.value) }
        let head =
            "\(question.method) \(question.target) HTTP/1.1\r\n" + fields.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
        do throws(ExchangeError) {
            return try await connection.send(Exchange(head: ByteBuffer(string: head), body: .bytes(ByteBuffer()), isHead: false))
        } catch {
            throw error.reason
        }
    }

    /// Returns what a container shows.
    private static func authorization(for service: KeyService) async throws(KeyServiceError) -> String? {
        switch service {
        case .instance, .container(_, nil): return nil
        case .container(_, .text(let text)?): return text
        case .container(_, .file(let path)?):
            let read: Result<String, GivenFileError> = await blocking {
                do throws(GivenFileError) {
                    let bytes = try GivenFile.bytes(path, limit: longestTokenFile)
                    let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? -1
                    return .success(String(decoding: bytes[..<(end + 1)], as: UTF8.self))
                } catch {
                    return .failure(error)
                }
            }
            let token: String
            do throws(GivenFileError) {
                token = try read.get()
            } catch {
                throw KeyServiceError(description: error.description, isUnreachable: true)
            }
            guard KeyService.isField(token) else {
                throw KeyServiceError(description: "\(path) holds no token of printable ASCII characters in one line")
            }
            return token
        }
    }
}
