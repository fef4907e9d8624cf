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
            let upload = try UploadSettings(values, environment: environment).options(environment: environment)
            options = RunOptions(upload: upload, schedule: Self.schedule(values))
            options.limits = ConfiguredLimits(options.upload.retention, isSet: values.setsRetention, program: "ferry run")
            // Certificates are read here, so that a bad one is reported before anything starts.
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
        options.sentRetention = options.upload.sentRetention
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
}
