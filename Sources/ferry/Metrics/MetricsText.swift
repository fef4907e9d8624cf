import FerrySpool

/// What Prometheus reads.
struct MetricsText {
    enum Format {
        /// OpenMetrics 1.0: the name of a counter's family lacks `_total`, and the text has an end.
        case openMetrics
        /// Prometheus' text format 0.0.4, for node_exporter's textfile collector.
        case prometheus

        var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    private let families: [MetricFamily]

    init(_ families: [MetricFamily]) { self.families = families }

    func text(_ format: Format) -> String {
        var text = ""
        for family in families {
            let isTotal = family.kind == .counter
            let familyName = isTotal && format == .prometheus ? family.name + "_total" : family.name
            text += "# HELP \(familyName) \(family.help)\n# TYPE \(familyName) \(family.kind.rawValue)\n"
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
                let name = family.name + (isTotal ? "_total" : sample.suffix)
                text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(MetricFamily.number(sample.value))\n"
            }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    /// Two names that differ in control characters alone stay two; a person who reads the text on a terminal is commanded by none.
    private static func escaped(_ text: String) -> String {
        text.printable().unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
