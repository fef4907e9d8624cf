import ArgumentParser
import FerrySpool
import FerryUpload

/// The names of the forms.
enum BodyForm: String, CaseIterable, ExpressibleByArgument {
    case ndjson
    case jsonArray = "json-array"
    case sensors
    case appcenter
    case measurement
    case otlp
    case elastic
    case loki
    case splunk

    /// Returns the body format; `nil` when the tracking ID is missing.
    func format(trackingID: String?) -> BodyFormat? {
        switch self {
        case .ndjson: .ndjson
        case .jsonArray: .jsonArray
        case .sensors: .sensors
        case .appcenter: .appCenter
        case .measurement: trackingID.map { .measurement(trackingID: $0) }
        case .otlp: .otlp
        case .elastic: .elastic
        case .loki: .loki
        case .splunk: .splunk
        }
    }

    /// Why requests of ``elastic`` cannot carry any number of events.
    static let whyLimited = "a bulk answer has a line for each event, and a long one cannot be read to its end"
}
