import ArgumentParser
import FerryUpload

/// What requests carry.
struct BodyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What requests carry: the segment as it is (ndjson), or its events as json-array, appcenter or measurement.",
            valueName: "form"))
    var body = BodyForm.ndjson

    @Option(help: ArgumentHelp("With --body measurement: the property's ID, UA-XXXX-Y.", valueName: "id"))
    var trackingID: String?

    func validate() throws { _ = try format() }

    func format() throws -> BodyFormat {
        guard let format = body.format(trackingID: trackingID) else {
            throw ValidationError("--body measurement needs --tracking-id, the property's ID")
        }
        guard body == .measurement || trackingID == nil else { throw ValidationError("--tracking-id needs --body measurement") }
        return format
    }
}

/// The names of the forms.
enum BodyForm: String, CaseIterable, ExpressibleByArgument {
    case ndjson
    case jsonArray = "json-array"
    case appcenter
    case measurement

    /// `nil` when the tracking ID is missing.
    func format(trackingID: String?) -> BodyFormat? {
        switch self {
        case .ndjson: .ndjson
        case .jsonArray: .jsonArray
        case .appcenter: .appCenter
        case .measurement: trackingID.map { .measurement(trackingID: $0) }
        }
    }
}
