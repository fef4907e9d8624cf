import Glibc

/// How long calls took, in steps of 0.1 µs up to a millisecond; in memory that does not grow.
struct Latencies: Sendable {
    private var counts = [Int](repeating: 0, count: 10_001)
    private var total = 0
    private(set) var worst = 0.0

    mutating func add(_ nanoseconds: Int) {
        counts[min(10_000, nanoseconds / 100)] += 1
        total += 1
        worst = max(worst, Double(nanoseconds) / 1000)
    }

    mutating func merge(_ other: Latencies) {
        for index in counts.indices { counts[index] += other.counts[index] }
        total += other.total
        worst = max(worst, other.worst)
    }

    /// In microseconds.
    func quantile(_ fraction: Double) -> Double {
        var left = Int(Double(total) * fraction)
        for (index, count) in counts.enumerated() {
            left -= count
            if left < 0 { return Double(index) / 10 }
        }
        return worst
    }
}

/// The monotonic clock, without arithmetic that would be measured along.
enum Nanoseconds {
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

enum Memory {
    private static func field(_ name: String) -> Double {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(cString: line)
            if text.hasPrefix(name) { return Double(text.filter(\.isNumber)).map { $0 / 1024 } ?? 0 }
        }
        return 0
    }

    static var peak: Double { field("VmHWM") }
    static var resident: Double { field("VmRSS") }
}
