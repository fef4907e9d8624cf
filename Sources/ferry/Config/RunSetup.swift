import FerrySpool
import FerryUpload

/// What `ferry run` starts with, made from a configuration without mistakes.
struct RunSetup {
    /// One of several destinations.
    struct OneOfSeveral {
        let lane: Lane
        var options: RunOptions
    }

    /// What is done with the spools: their segments are sent, or, with several destinations, put into lanes.
    var options: RunOptions
    var places: [SpoolPattern]
    /// Each sends from its lanes; empty: there is one destination.
    var destinations: [OneOfSeveral] = []
    var metricsListen: ListenAddress?
    var metricsFile: String?
    /// Where the page is served; `nil`: nowhere.
    var dashboardListen: ListenAddress?
    /// The file with the page's token.
    var dashboardToken: String?
    var logsJSON: Bool
    /// What is to be told, and stops nothing.
    let warnings: [ConfigProblem]

    /// Makes everything ready, without starting anything.
    ///
    /// - Parameters:
    ///   - configuration: Returns the configuration of one of several destinations; `nil`: what holds for all.
    ///   - isCheck: Whether folders that are not there, or cannot be used, are mistakes.
    /// - Throws: ``ConfigurationError`` with all of them.
    init(_ configuration: (LaneName?) -> RunConfiguration, environment: [String: String], isCheck: Bool = false) throws {
        let common = configuration(nil)
        let values = ConfigValues(common)
        warnings = common.warnings
        places = values.list("spools").map { SpoolPattern($0) }
        let each = common.sections.names.map { (name: $0, configuration: configuration($0)) }
        var problems = common.problems + common.missing + SpoolCheck.problems(places, common, isStrict: isCheck)
        if isCheck, let problem = MetricsFolderCheck.problem(common) { problems.append(problem) }
        for (name, configuration) in each {
            // What was found in the file is told with its line already.
            let own = (configuration.problems + configuration.missing).filter { one in
                !problems.contains { $0.message == one.message }
            }
            problems += own.map { .init(place: $0.place, "destinations.\(name): \($0.message)") }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        if each.isEmpty {
            let settings = try Self.named(nil) { try UploadSettings(values, environment: environment) }
            options = try Self.options(settings, values, schedule: Self.schedule(values), environment: environment)
        } else {
            let lanes = each.map { common.sections.lane($0.name) }
            options = try Self.options(
                UploadSettings(routing: values, to: lanes), values, schedule: Self.schedule(values), environment: environment)
            (options.windows, options.network.isWatched) = (nil, false)
            for (lane, one) in zip(lanes, each) {
                let own = ConfigValues(one.configuration)
                destinations.append(
                    OneOfSeveral(
                        lane: lane,
                        options: try Self.named(lane.name) {
                            // What is in a lane was gathered before.
                            var options = try Self.options(
                                UploadSettings(own, environment: environment), own, schedule: Self.atOnce,
                                environment: environment)
                            options.limits = nil
                            if let lag = common.sections.maxLag(lane.name) {
                                options.upload.retention.maxAge = min(options.upload.retention.maxAge ?? lag, lag)
                            }
                            return options
                        }))
            }
        }
        metricsListen = values.text("metrics.listen").flatMap { ListenAddress(parsing: $0) }
        metricsFile = values.text("metrics.file")
        dashboardListen = values.text("dashboard.listen").flatMap { ListenAddress(parsing: $0) }
        dashboardToken = values.text("dashboard.token-file")
        logsJSON = values.text("log-format") == "json"
    }

    /// Looks for credentials where a question tells whether there are some.
    ///
    /// - Throws: ``CommandError`` where there are none.
    func requireCredentials() async throws {
        if destinations.isEmpty { try await options.upload.requireCredentials() }
        for one in destinations { try await one.options.upload.requireCredentials(of: "destinations.\(one.lane.name): ") }
    }

    private static let atOnce = SchedulePolicy(interval: .seconds(60), events: 1)

    /// Does something; what fails is the configuration's, of a destination where one is named.
    private static func named<Result>(_ name: LaneName?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ConfigurationError {
            throw ConfigurationError(
                problems: error.problems.map { .init(place: $0.place, (name.map { "destinations.\($0): " } ?? "") + $0.message) })
        } catch {
            let message = (error as? CommandError)?.message ?? "\(error)"
            throw ConfigurationError(
                problems: [.init(place: .nowhere, (name.map { "destinations.\($0): " } ?? "") + message)])
        }
    }

    private static func options(
        _ settings: UploadSettings, _ values: ConfigValues, schedule: SchedulePolicy, environment: [String: String]
    ) throws -> RunOptions {
        try named(nil) {
            var options = RunOptions(upload: try settings.options(environment: environment), schedule: schedule)
            options.limits = ConfiguredLimits(options.upload.retention, isSet: values.setsRetention, program: "ferry run")
            // Certificates are read here, so that a bad one is reported before anything starts.
            _ = try Runner([], options: options)
            let zone = values.zone("timezone")
            options.windows = values.text("window").flatMap { UploadWindows(parsing: $0, zone: zone) }
            options.network.isWatched = values.flag("network.watch")
            options.network.allow = values.list("interfaces.allow")
            options.network.deny = values.list("interfaces.deny")
            options.sentRetention = options.upload.sentRetention
            return options
        }
    }

    private static func schedule(_ values: ConfigValues) -> SchedulePolicy {
        SchedulePolicy(
            interval: values.text("interval").flatMap(Settings.parsedInterval) ?? .zero,
            events: values.text("threshold.events").flatMap { Int64($0) }, bytes: values.size("threshold.bytes"),
            criticalDelay: values.duration("critical-delay"))
    }
}
