import FerrySpool
import FerryUpload

/// What a person says of an upload, by flags or by a configuration: both become this value, and ``options(environment:)`` is the only way from it to
/// what the uploader takes. What is not said is as here.
struct UploadSettings {
    var destination: Destination
    var method = "POST"
    /// Headers for every request; no secrets.
    var headers: [UploadOptions.Header] = []
    /// A file with secret headers.
    var headerFile: String?
    /// A file with a bearer token.
    var tokenFile: String?
    /// Certificates and patience. Its proxies come from the environment.
    var transport = TransportOptions()
    var body = BodyFormat.ndjson
    /// `nil`: what the servers of the body take.
    var requestLimits: RequestLimits?
    var parallel = 3
    var order = SendOrder.priority
    var verification = Verification.auto
    var inflateLimit = ByteCount.mebibytes(1024)
    var coalesce = CoalescePolicy.auto
    var splitBroken = SplitPolicy.on
    var keepsSent = true
    var sentRetention = RetentionLimits(maxAge: UploadOptions.standardSentAge)
    /// On a full disk, what is in `sent/` is deleted before its time.
    var sentGivesWay = true
    var retention = RetentionLimits()
    var backOff = BackOff.standard
    var blame = FailureBlame.judged
    var bandwidth: BandwidthTimetable?
    var due: DueTime?
    // Of one pass.
    var limit: Int?
    var timeLimit: Duration?
    var timeLimitMargin: Duration?
    var ignoresWaits = false

    init(destination: Destination) { self.destination = destination }

    /// For putting segments into lanes: each at once, also where it waited before. It ends there, and is kept by the lanes.
    init(routingTo lanes: [Lane]) {
        self.init(destination: Destination(lanes: lanes))
        coalesce = .off
        splitBroken = .off
        keepsSent = false
        ignoresWaits = true
    }

    /// Returns the options that the settings say. The files with secrets are read.
    func options(environment: [String: String]) throws -> UploadOptions {
        var options = UploadOptions(destination: destination)
        options.method = method
        options.headers = headers
        options.transport = transport
        do throws(DestinationURLError) {
            options.transport.proxies = try ProxySettings(environment: environment)
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
        options.secretFiles = try SecretFile.watched(headers: headerFile, token: tokenFile, scheme: body.tokenScheme)
        if let name = options.clashingHeader {
            throw CommandError(
                .badConfiguration,
                "the header '\(name)' is not the user's to give where Ferry sends to \(destination): leave it out")
        }
        options.body = body
        options.requestLimits = requestLimits
        options.parallel = parallel
        options.order = order
        options.verification = verification
        options.inflateLimit = inflateLimit
        options.coalesce = coalesce
        options.splitBroken = splitBroken
        options.keepsSent = keepsSent
        options.sentRetention = sentRetention
        options.sentGivesWay = sentGivesWay
        options.retention = retention
        options.backOff = backOff
        options.blame = blame
        options.bandwidth = bandwidth
        options.due = due
        options.limit = limit
        options.timeLimit = timeLimit
        options.timeLimitMargin = timeLimitMargin
        options.ignoresWaits = ignoresWaits
        return options
    }
}

extension UploadOptions {
    /// Looks for credentials where a question tells whether there are some.
    ///
    /// - Parameter name: What a message begins with.
    /// - Throws: ``CommandError`` where there are none.
    func requireCredentials(of name: String = "") async throws {
        do throws(DestinationURLError) {
            try await destination.findCredentials()
        } catch {
            throw CommandError(.badConfiguration, name + error.description)
        }
    }
}
