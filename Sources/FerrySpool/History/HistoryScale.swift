import Glibc

/// Numbers as a history keeps them: 64 levels, each a fixed factor above the one before. A level stands for the numbers around it.
struct HistoryScale: Sendable {
    /// What each level stands for; 0 for those that stand for no number.
    private let values: [Double]
    /// Between two neighbours, the number that divides what belongs to the one from what belongs to the other.
    private let bounds: [Double]
    private let firstLevel: Int

    static let levels = 64

    /// Creates a scale.
    ///
    /// - Parameters:
    ///   - firstLevel: The first one that stands for a number.
    ///   - first: What it stands for, above 0.
    ///   - factor: Above 1.
    init(firstLevel: Int, first: Double, factor: Double) {
        self.firstLevel = firstLevel
        var values = [Double](repeating: 0, count: Self.levels)
        for level in firstLevel..<Self.levels { values[level] = first * pow(factor, Double(level - firstLevel)) }
        self.values = values
        // The middle, as a scale of factors has it.
        bounds = values[(firstLevel + 1)...].map { $0 / factor.squareRoot() }
    }

    /// Returns the level of a number, the nearest one; the last of what is larger than all.
    func level(of value: Double) -> UInt8 {
        UInt8(firstLevel + bounds.indices.partitioningIndex { !(bounds[$0] <= value) })
    }

    /// Returns the number that a level stands for.
    func value(of level: UInt8) -> Double { values[Int(level & 0x3f)] }
}

extension HistoryScale {
    /// Ages in seconds: 10 s to 94 days.
    static let age = HistoryScale(firstLevel: 2, first: 10, factor: 1.25)
    /// Bytes a minute: 100 B to 12 GB.
    static let bytes = HistoryScale(firstLevel: 1, first: 100, factor: 1.35)
}
