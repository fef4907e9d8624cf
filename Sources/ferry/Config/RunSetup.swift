import FerrySpool
import FerryUpload

/// What `ferry run` starts with, made from a configuration without mistakes.
struct RunSetup {
    var options: RunOptions
    var places: [SpoolPattern]
    var metricsListen: ListenAddress?
    var metricsFile: String?
    var logsJSON: Bool
    /// Settings that were given under a name of an earlier version.
    let formerNames: [ConfigProblem]

    /// Makes everything ready, without starting anything.
    ///
    /// - Parameter isCheck: Whether folders that are not there, or cannot be used, are mistakes.
    /// - Throws: ``ConfigurationError`` with all of them.
    init(_ configuration: RunConfiguration, environment: [String: String], isCheck: Bool = false) throws {
        let values = ConfigValues(configuration)
        formerNames = configuration.formerNames
        places = values.list("spools").map { SpoolPattern($0) }
        let problems =
            configuration.problems + configuration.missing + SpoolCheck.problems(places, configuration, isStrict: isCheck)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        do {
            options = RunOptions(upload: try Self.upload(values, environment), schedule: Self.schedule(values))
            options.limits = ConfiguredLimits(options.upload.retention, isSet: values.setsRetention, program: "ferry run")
            // Certificates are read here, so that a bad one is told before anything starts.
            _ = try Runner([], options: options)
        } catch {
            let message = (error as? CommandError)?.message ?? "\(error)"
            throw ConfigurationError(problems: [.init(place: .nowhere, message)])
        }
        let zone = values.zone("timezone")
        options.windows = values.text("window").flatMap { UploadWindows(parsing: $0, zone: zone) }
        options.network.isWatched = values.flag("network.watch")
        options.network.allow = values.list("interfaces.allow")
        options.network.deny = values.list("interfaces.deny")
        options.sentRetention = values.sentRetention
        metricsListen = values.text("metrics.listen").flatMap { ListenAddress(parsing: $0) }
        metricsFile = values.text("metrics.file")
        logsJSON = values.text("log-format") == "json"
    }

    private static func schedule(_ values: ConfigValues) -> SchedulePolicy {
        SchedulePolicy(
            interval: values.text("interval").flatMap(Settings.parsedInterval) ?? .zero,
            events: values.text("threshold.events").flatMap { Int64($0) }, bytes: values.size("threshold.bytes"),
            criticalDelay: values.duration("critical-delay"))
    }

    /// - Parameter standard: What the body's servers take.
    private static func requestLimits(_ values: ConfigValues, _ standard: RequestLimits) -> RequestLimits {
        RequestLimits(
            events: values.text("request-events") == "auto" ? standard.events : values.number("request-events").map { Int64($0) },
            bytes: values.text("request-bytes") == "auto" ? standard.bytes : values.size("request-bytes"))
    }

    private static func upload(_ values: ConfigValues, _ environment: [String: String]) throws -> UploadOptions {
        var upload = UploadOptions(destination: try DestinationURL(values.text("to") ?? ""))
        upload.method = values.text("method") ?? "POST"
        upload.body = values.text("body").flatMap(BodyForm.init)?.format(trackingID: values.text("tracking-id")) ?? .ndjson
        upload.requestLimits = requestLimits(values, RequestLimits(upload.body))
        upload.headers = try values.list("headers").map { try HeaderText.parse($0, from: "headers") }
        upload.secretFiles = try SecretFile.watched(headers: values.text("header-file"), token: values.text("token-file"))
        upload.transport.certificateAuthority = values.text("tls.ca")
        upload.transport.certificate = values.text("tls.cert")
        upload.transport.privateKey = values.text("tls.key")
        upload.transport.idleTimeout = values.duration("timeout") ?? upload.transport.idleTimeout
        upload.transport.connectTimeout = values.duration("connect-timeout") ?? upload.transport.connectTimeout
        upload.transport.proxies = try ProxySettings(environment: environment)
        upload.parallel = values.number("parallel") ?? upload.parallel
        upload.order = values.text("order").flatMap(SendOrder.init) ?? upload.order
        upload.verification = values.text("verify").flatMap(Verification.init) ?? upload.verification
        upload.inflateLimit = values.size("inflate-limit") ?? upload.inflateLimit
        upload.coalesce = values.text("coalesce").flatMap { CoalescePolicy(parsing: $0) } ?? .off
        upload.splitBroken = values.text("split-broken").flatMap(SplitPolicy.init) ?? .off
        upload.keepsSent = values.flag("sent.keep")
        upload.sentGivesWay = values.sentIsKeptByDefault
        upload.retention = RetentionLimits(maxBytes: values.size("max-spool-bytes"), maxAge: values.duration("max-spool-age"))
        upload.backOff = BackOff(
            intervals: values.list("back-off.intervals").compactMap { Duration(parsing: $0) },
            jitter: values.text("back-off.jitter").flatMap(Settings.parsedJitter) ?? BackOff.standard.jitter,
            failuresAllowed: values.number("back-off.reject-after") ?? .max)
        if values.text("back-off.then") == nil { upload.blame = .eachRequest(retries: upload.backOff.intervals.count) }
        upload.bandwidth = values.text("bandwidth").flatMap { BandwidthTimetable(parsing: $0, zone: values.zone("timezone")) }
        upload.due = values.text("due.time").flatMap { DayTime(parsing: $0) }.map {
            DueTime(
                time: $0, zone: values.zone("due.timezone"),
                late: values.text("due.late").flatMap(DueTime.Late.init) ?? .send)
        }
        return upload
    }
}
