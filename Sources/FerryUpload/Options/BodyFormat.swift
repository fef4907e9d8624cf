/// What the body of a request looks like.
public enum BodyFormat: Equatable, Sendable {
    /// The segment as it is.
    case ndjson
    /// The events as elements of one array, each on a line of its own: `[\n…,\n…\n]`, as Sensors Analytics' SDK sends them.
    case jsonArray
    /// Records of Sensors Analytics in one array, each on a line of its own.
    case sensors
    /// App Center's ingestion: `{"logs":[…]}`.
    case appCenter
    /// Hits of Google Analytics' Measurement Protocol (version 1), one a line, as its batch endpoint takes them.
    ///
    /// - Parameter trackingID: The property, `UA-XXXX-Y`.
    case measurement(trackingID: String)
    /// Log records of OpenTelemetry: `ExportLogsServiceRequest` in OTLP's JSON encoding.
    case otlp
    /// Documents of Elasticsearch or OpenSearch, as their `_bulk` takes them: an action and an event, each on a line.
    case elastic
    /// Entries of Grafana Loki, as its push endpoint takes them in JSON.
    case loki
    /// Events of Splunk's HTTP Event Collector, one after the other.
    case splunk

    var contentType: String {
        switch self {
        case .ndjson, .elastic: "application/x-ndjson"
        case .jsonArray, .sensors, .appCenter, .otlp, .loki, .splunk: "application/json"
        case .measurement: "text/plain; charset=utf-8"
        }
    }

    /// The word before a token in `Authorization`.
    package var tokenScheme: String {
        switch self {
        case .splunk: "Splunk"
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .otlp, .elastic, .loki: "Bearer"
        }
    }

    /// Whether the answer to a request tells of each event what became of it.
    var isAnsweredByEvent: Bool {
        switch self {
        case .elastic: true
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .otlp, .loki, .splunk: false
        }
    }

    /// A parameter of the URL's query that makes answers short, unless the user has one.
    var answerFilter: (name: String, value: String)? {
        switch self {
        case .elastic: ("filter_path", "took,errors,items.*.status,items.*.error.type,items.*.error.reason")
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .otlp, .loki, .splunk: nil
        }
    }

    /// What stands before the first, between two and after the last event.
    var frame: (start: StaticString, separator: StaticString, end: StaticString) {
        switch self {
        case .ndjson: ("", "\n", "\n")
        case .jsonArray, .sensors: ("[\n", ",\n", "\n]")
        case .appCenter: ("{\"logs\":[", ",", "]}")
        case .measurement, .elastic, .splunk: ("", "\n", "\n")
        case .otlp: ("{\"resourceLogs\":[", ",", "]}")
        case .loki: ("{\"streams\":[", ",", "]}")
        }
    }
}

/// An event that has no form in a body: what it lacks.
struct EventEncodingError: Error, Equatable, CustomStringConvertible {
    /// In the segment, from 1.
    var line: Int64 = 0
    let reason: String

    var description: String { "line \(line) \(reason)" }
}
