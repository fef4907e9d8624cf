import FerrySpool
import Glibc

/// A plot of 24 hours: areas of quarters of an hour, over a base line.
struct DayPlot {
    private let day: DayHistory
    /// In the plot's units.
    let height: Int

    init(_ day: DayHistory, height: Int) {
        self.day = day
        self.height = height
    }

    /// The ages, from 10 s to `top`, as powers: each factor has the same height.
    ///
    /// - Parameter top: More than 10 s.
    func ages(top: Duration) -> SVGPath {
        path { quarter in
            switch quarter.age {
            case .unknown: nil
            case .none: 0
            case .about(let age): max(1, y(age, top: top))
            }
        }
    }

    /// Returns how high an age stands.
    func y(_ age: Duration, top: Duration) -> Int {
        let share = log(max(1, age.inSeconds / 10)) / log(top.inSeconds / 10)
        return Int((min(share, 1) * Double(height)).rounded())
    }

    /// The bytes, in proportion.
    ///
    /// - Parameter top: More than 0.
    func bytes(top: ByteCount) -> SVGPath {
        path { quarter in
            if quarter.age == .unknown, quarter.bytes == .zero { return nil }
            guard quarter.bytes > .zero else { return 0 }
            return max(1, Int((Double(quarter.bytes.bytes) / Double(top.bytes) * Double(height)).rounded()))
        }
    }

    /// - Parameter level: `nil`: nothing is known, and nothing drawn.
    private func path(_ level: (DayHistory.Quarter) -> Int?) -> SVGPath {
        var path = SVGPath()
        var isOpen = false
        for (x, quarter) in day.quarters.enumerated() {
            guard let level = level(quarter) else {
                if isOpen {
                    path.line(to: x, height)
                    path.close()
                }
                isOpen = false
                continue
            }
            if !isOpen { path.move(to: x, height) }
            isOpen = true
            // Upwards, then along.
            path.line(to: x, height - min(level, height))
            path.line(to: x + 1, height - min(level, height))
        }
        if isOpen {
            path.line(to: DayHistory.count, height)
            path.close()
        }
        return path
    }
}
