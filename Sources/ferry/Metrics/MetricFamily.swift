/// A metric with its samples.
struct MetricFamily {
    enum Kind: String { case gauge, counter, histogram }

    let name: String
    let kind: Kind
    let help: String
    private(set) var samples: [(suffix: String, labels: [(String, String)], value: Double)] = []

    init(name: String, kind: Kind, help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    mutating func add(_ value: Double, _ labels: [(String, String)] = [], suffix: String = "") {
        samples.append((suffix, labels, value))
    }

    /// Returns a value as text: whole numbers without a point.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}
