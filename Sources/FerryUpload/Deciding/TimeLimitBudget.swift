import FerrySpool

/// Whether a request can still finish before a time-boxed delivery ends.
struct TimeLimitBudget: Sendable {
    private let end: Duration
    private let margin: Duration
    private var small = Pace()
    private var large = Pace()
    private var slowest = 0.0

    /// What requests took and carried, recent ones counting more.
    private struct Pace {
        var seconds = 0.0
        var bytes = 0.0
        var events = 0.0
        var requests = 0.0

        mutating func add(_ size: ByteCount, events count: Int64, took time: Duration, weight: Double) {
            seconds = seconds * weight + time.inSeconds
            bytes = bytes * weight + Double(size.bytes)
            events = events * weight + Double(count)
            requests = requests * weight + 1
        }
    }

    /// Sensors Analytics' SDK flushes in the background only while at least 30 s remain.
    static let standardMargin = Duration.seconds(30)

    /// A smaller request fits into the buffers of two sockets: much of what it takes is the connection's time and the server's, and it tells the
    /// link's pace only for requests that are not much larger.
    private static let smallestMeasure = ByteCount.kibibytes(64)
    private static let notMuchLarger = 16.0

    /// - Parameters:
    ///   - time: From now to the deadline.
    ///   - margin: What must be left for a request to be started. By default 30 s, but no more than a quarter of the time.
    init(time: Duration, margin: Duration?, now: Duration) {
        end = now + time
        self.margin = margin ?? min(Self.standardMargin, time / 4)
    }

    /// Returns whether the next request is to be started.
    ///
    /// - Parameters:
    ///   - size: Of the segment that is next.
    ///   - limits: What one request carries of it; `nil`: all.
    func allows(_ size: ByteCount, cutTo limits: RequestLimits? = nil, now: Duration) -> Bool {
        let left = end - now
        guard left >= margin, left > .zero else { return false }
        // A request takes as long as the slowest of the recent ones, and its bytes as long as theirs did.
        return max(slowest, transfer(of: load(of: size, cutTo: limits))) <= left.inSeconds
    }

    /// Returns how many bytes of segments may go out together and arrive in time, as far as the others tell; `nil`: as many as a request carries.
    ///
    /// - Parameter limits: What one request carries of them; `nil`: all.
    func most(cutTo limits: RequestLimits? = nil, now: Duration) -> ByteCount? {
        let measure = large.bytes > 0 ? large : small
        guard measure.bytes > 0, measure.seconds > 0 else { return nil }
        let most = max(0, (end - now).inSeconds) * measure.bytes / measure.seconds
        // Of larger ones small requests tell nothing.
        if large.bytes == 0, most * small.requests > small.bytes * Self.notMuchLarger { return nil }
        let full = load(of: ByteCount(.max), cutTo: limits)
        return most < full ? ByteCount(Int64(min(most, 1e18))) : nil
    }

    /// Returns the seconds for a number of bytes, as far as the other requests tell.
    private func transfer(of load: Double) -> Double {
        if large.bytes > 0 { return load * large.seconds / large.bytes }
        guard small.bytes > 0, load * small.requests <= small.bytes * Self.notMuchLarger else { return 0 }
        return load * small.seconds / small.bytes
    }

    /// Returns how many bytes the next request carries at most, as far as the others tell how large an event is.
    private func load(of size: ByteCount, cutTo limits: RequestLimits?) -> Double {
        var most = Double(size.bytes)
        if let limit = limits?.bytes { most = min(most, Double(limit.bytes)) }
        let known = large.events > 0 ? large : small
        if let limit = limits?.events, known.events > 0 { most = min(most, Double(limit) * known.bytes / known.events) }
        return most
    }

    /// Notes the size and the duration of a request that has ended.
    ///
    /// - Parameter count: Its events.
    mutating func observe(_ size: ByteCount, events count: Int64, took time: Duration) {
        let weight = 0.8
        slowest = max(slowest * weight, time.inSeconds)
        if size >= Self.smallestMeasure {
            large.add(size, events: count, took: time, weight: weight)
        } else {
            small.add(size, events: count, took: time, weight: weight)
        }
    }
}
