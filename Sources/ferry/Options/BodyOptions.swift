import ArgumentParser
import FerrySpool
import FerryUpload

/// What requests carry.
struct BodyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What requests carry: the segment as it is (ndjson), or its events as json-array, sensors, appcenter, measurement, otlp, elastic, loki or splunk.",
            valueName: "form"))
    var body = BodyForm.ndjson

    @Option(help: ArgumentHelp("With --body measurement: the property's ID, UA-XXXX-Y.", valueName: "id"))
    var trackingID: String?

    @Option(
        help: ArgumentHelp(
            "With another --body than ndjson: at most this many events a request, or off; what its servers take by default.",
            valueName: "count"))
    var requestEvents: String?

    @Option(
        help: ArgumentHelp(
            "With another --body than ndjson: at most this many bytes a request, before they are compressed, or off.",
            valueName: "size"))
    var requestBytes: String?

    func validate() throws {
        _ = try format()
        _ = try limits()
    }

    /// Returns how much a request carries; `nil`: no option sets it.
    func limits() throws -> RequestLimits? {
        guard requestEvents != nil || requestBytes != nil else { return nil }
        guard body != .ndjson else {
            throw ValidationError(
                "--request-events and --request-bytes need another --body than ndjson, which is the segment as it is")
        }
        var limits = RequestLimits(try format())
        if let requestEvents {
            limits.events = Int64(requestEvents)
            guard limits.events.map({ $0 > 0 }) ?? (requestEvents == "off") else {
                throw ValidationError("--request-events '\(requestEvents)' must be a whole number from 1, or off")
            }
        }
        if let requestBytes {
            limits.bytes = ByteCount(parsing: requestBytes)
            guard limits.bytes.map({ $0 > .zero }) ?? (requestBytes == "off") else {
                throw ValidationError("--request-bytes '\(requestBytes)' must be a size like 16KB, or off")
            }
        }
        guard body != .elastic || limits.events != nil else {
            throw ValidationError("--request-events off: \(BodyForm.whyLimited)")
        }
        return limits
    }

    func format() throws -> BodyFormat {
        guard let format = body.format(trackingID: trackingID) else {
            throw ValidationError("--body measurement needs --tracking-id, the property's ID")
        }
        guard body == .measurement || trackingID == nil else { throw ValidationError("--tracking-id needs --body measurement") }
        return format
    }
}
