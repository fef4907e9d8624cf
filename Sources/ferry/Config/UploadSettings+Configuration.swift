import FerrySpool
import FerryUpload

extension UploadSettings {
    /// What of a configuration holds for putting segments into lanes.
    init(routing values: ConfigValues, to lanes: [Lane]) {
        self.init(routingTo: lanes)
        order = values.text("order").flatMap(SendOrder.init) ?? order
        verification = values.text("verify").flatMap(Verification.init) ?? verification
        inflateLimit = values.size("inflate-limit") ?? inflateLimit
        retention = RetentionLimits(maxBytes: values.size("max-spool-bytes"), maxAge: values.duration("max-spool-age"))
    }

    /// The settings of a configuration without mistakes.
    init(_ values: ConfigValues, environment: [String: String]) throws {
        self.init(
            destination: try Destination(
                values.text("to") ?? "", environment: environment, credentialsFile: values.text("credentials-file")))
        method = values.text("method") ?? method
        headers = try values.list("headers").map { try HeaderText.parse($0, from: "headers") }
        headerFile = values.text("header-file")
        tokenFile = values.text("token-file")
        transport.certificateAuthority = values.text("tls.ca")
        transport.certificate = values.text("tls.cert")
        transport.privateKey = values.text("tls.key")
        transport.idleTimeout = values.duration("timeout") ?? transport.idleTimeout
        transport.connectTimeout = values.duration("connect-timeout") ?? transport.connectTimeout
        body = values.text("body").flatMap(BodyForm.init)?.format(trackingID: values.text("tracking-id")) ?? body
        requestLimits = Self.requestLimits(values, RequestLimits(body))
        parallel = values.number("parallel") ?? parallel
        order = values.text("order").flatMap(SendOrder.init) ?? order
        verification = values.text("verify").flatMap(Verification.init) ?? verification
        inflateLimit = values.size("inflate-limit") ?? inflateLimit
        coalesce = values.text("coalesce").flatMap { CoalescePolicy(parsing: $0) } ?? .off
        splitBroken = values.text("split-broken").flatMap(SplitPolicy.init) ?? .off
        keepsSent = values.flag("sent.keep")
        sentRetention = values.sentRetention
        sentGivesWay = values.sentIsKeptByDefault
        retention = RetentionLimits(maxBytes: values.size("max-spool-bytes"), maxAge: values.duration("max-spool-age"))
        backOff = BackOff(
            intervals: values.list("back-off.intervals").compactMap { Duration(parsing: $0) },
            jitter: values.text("back-off.jitter").flatMap(Settings.parsedJitter) ?? backOff.jitter,
            failuresAllowed: values.number("back-off.reject-after") ?? .max)
        if values.text("back-off.then") == nil { blame = .eachRequest(retries: backOff.intervals.count) }
        bandwidth = values.text("bandwidth").flatMap { BandwidthTimetable(parsing: $0, zone: values.zone("timezone")) }
        due = values.text("due.time").flatMap { DayTime(parsing: $0) }.map {
            DueTime(
                time: $0, zone: values.zone("due.timezone"),
                late: values.text("due.late").flatMap(DueTime.Late.init) ?? .send)
        }
    }

    /// - Parameter standard: What the body's servers take.
    private static func requestLimits(_ values: ConfigValues, _ standard: RequestLimits) -> RequestLimits? {
        let (events, bytes) = (values.text("request-events"), values.text("request-bytes"))
        if events == "auto", bytes == "auto" { return nil }
        return RequestLimits(
            events: events == "auto" ? standard.events : events.flatMap { Int64($0) },
            bytes: bytes == "auto" ? standard.bytes : values.size("request-bytes"))
    }
}
