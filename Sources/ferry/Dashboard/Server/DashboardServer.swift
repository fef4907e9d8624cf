import FerryReceiver
import FerrySpool
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Serves the page.
struct DashboardServer: Sendable {
    private let options: DashboardOptions
    /// Where the address was set, for the words of an error.
    private let option: String
    private let access: DashboardAccess
    private let hosts: HostCheck
    private let cache: ReportCache
    private let clients = EventClients()
    private let maker = PageMaker()
    private let log: Log

    /// People read it, a few at a time: each connection takes a descriptor of those that segments need.
    private static let limits = ConnectionLimits(
        most: 64, mostPerAddress: 48, idleTimeout: .seconds(30), bodiesEndPatience: .seconds(1))
    private static let longestForm = 4096
    private static let formPatience = Duration.seconds(5)
    /// How long one who guessed wrong waits for the answer.
    private static let guessing = Duration.seconds(1)

    /// - Throws: ``HeaderError`` where the token cannot be read.
    init(
        _ options: DashboardOptions, option: String, log: Log, report: @escaping @Sendable () -> HubReport
    ) throws {
        self.options = options
        self.option = option
        self.log = log
        access = DashboardAccess(token: try options.token(), port: options.address.port, log: log)
        hosts = HostCheck(options.address)
        cache = ReportCache(report)
    }

    /// Serves until the task is cancelled.
    func run() async throws {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("/") { request, _ in await answer(request) { await page($0) } }
        router.get("events") { request, _ in await answer(request) { _ in events } }
        router.post("login") { request, _ in await logIn(request) }
        router.post("logout") { request, _ in logOut(request) }
        var logger = Logger(label: "ferry.page")
        logger.logLevel = .critical
        let (address, log) = (options.address, log)
        let application = Application(
            router: router, server: .guarded(Self.limits),
            configuration: .init(
                address: .hostname(address.host, port: address.port), serverName: "ferry/\(FerryVersion.current)"),
            onServerRunning: { channel in
                log.note(
                    "the page is at http://\(ListenAddress(host: address.host, port: channel.localAddress?.port ?? 0).text)/")
            }, logger: logger)
        do {
            try await application.runService(gracefulShutdownSignals: [])
        } catch  where !Task.isCancelled {
            throw CommandError(.localFailure, "\(option): cannot listen on \(address.text): \(ListenAddress.reason(error))")
        }
    }

    /// Answers a request that was meant for this server, of a reader that may.
    private func answer(_ request: Request, _ body: (FormBody) async -> Response) async -> Response {
        guard hosts.allows(request.head.authority) else { return misdirected }
        guard access.allows(request.headers) else {
            if request.headers[.authorization] != nil { try? await Task.sleep(for: Self.guessing) }
            return loginForm(isRefused: false)
        }
        return await body(FormBody(request.uri.query ?? ""))
    }

    private var misdirected: Response {
        text(.misdirectedRequest, "This server has another name: ask for http://\(options.address.text)/")
    }

    private func page(_ query: FormBody) async -> Response {
        guard let report = await report() else {
            var answer = text(.serviceUnavailable, "The spools' disk does not answer. Try again.")
            answer.headers[.retryAfter] = "5"
            return answer
        }
        let page = await maker.page(
            report.report, search: .init(query["q"] ?? ""), showsAll: query["all"] == "1", hasLogin: access.isNeeded)
        return html(.ok, page)
    }

    /// Waits for the report, for some seconds.
    private func report() async -> ReportCache.Entry? {
        for pause in 0..<100 {
            if pause > 0 { try? await Task.sleep(for: .milliseconds(100)) }
            if Task.isCancelled { return nil }
            let found = await withTaskGroup(of: ReportCache.Entry??.self) { group in
                group.addTask { [cache] in await abandonable { cache.current() } }
                group.addTask {
                    try? await Task.sleep(for: .seconds(10))
                    return .none
                }
                defer { group.cancelAll() }
                return await group.next() ?? .none
            }
            guard let found else { return nil }
            if let found { return found }
        }
        return nil
    }

    /// Tells of changes.
    private var events: Response {
        guard let place = clients.begin() else {
            var answer = text(.serviceUnavailable, "Enough readers are told of changes: load the page again.")
            answer.headers[.retryAfter] = "30"
            return answer
        }
        let body = ResponseBody { writer in
            var stream = EventStream { await report()?.mark }
            while let piece = await stream.next() { try await writer.write(ByteBuffer(string: piece)) }
            try await writer.finish(nil)
            withExtendedLifetime(place) {}
        }
        var headers = headers(of: "text/event-stream")
        // nginx would hold it back.
        headers[.accelBuffering] = "no"
        return Response(status: .ok, headers: headers, body: body)
    }

    private func logIn(_ request: Request) async -> Response {
        guard hosts.allows(request.head.authority) else { return misdirected }
        guard let body = await form(of: request) else {
            return text(.contentTooLarge, "That is too long for a token, or did not come within some seconds.")
        }
        guard let cookie = access.cookie(for: FormBody(String(buffer: body))["token"] ?? "") else {
            if access.isNeeded { try? await Task.sleep(for: Self.guessing) }
            return loginForm(isRefused: true)
        }
        return seeOther(cookie)
    }

    /// Reads a form; `nil` where it is too long, or comes so slowly that it keeps others from the page.
    private func form(of request: Request) async -> ByteBuffer? {
        await withTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try? await request.body.collect(upTo: Self.longestForm) }
            group.addTask {
                try? await Task.sleep(for: Self.formPatience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func logOut(_ request: Request) -> Response {
        hosts.allows(request.head.authority) ? seeOther(access.noCookie) : misdirected
    }

    private func seeOther(_ cookie: String) -> Response {
        var headers = headers(of: "text/plain; charset=utf-8")
        // Relative, as the page may lie below another one behind a proxy.
        headers[.location] = "./"
        headers[.setCookie] = cookie
        return Response(status: .seeOther, headers: headers)
    }

    private func loginForm(isRefused: Bool) -> Response {
        guard access.isNeeded else { return seeOther(access.noCookie) }
        var answer = html(.unauthorized, LoginPage.html(host: HubGathering.hostName, isRefused: isRefused))
        answer.headers[.wwwAuthenticate] = "Bearer"
        return answer
    }

    private func html(_ status: HTTPResponse.Status, _ html: HTML) -> Response {
        Response(
            status: status, headers: headers(of: "text/html; charset=utf-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: html.markup)))
    }

    private func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: headers(of: "text/plain; charset=utf-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    private func headers(of type: String) -> HTTPFields {
        var headers: HTTPFields = [
            .contentType: type, .cacheControl: "no-store", .contentSecurityPolicy: ContentPolicy.live,
            .xContentTypeOptions: "nosniff",
        ]
        headers[.referrerPolicy] = "no-referrer"
        headers[.resourcePolicy] = "same-origin"
        return headers
    }
}

extension HTTPField.Name {
    // All are tokens.
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
    fileprivate static let accelBuffering = Self("X-Accel-Buffering")!
    fileprivate static let resourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
