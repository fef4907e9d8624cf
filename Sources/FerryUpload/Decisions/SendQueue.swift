/// The segments of a pass that have not been started, by their index in upload order.
struct SendQueue {
    private let count: Int
    private var head = 0
    /// Taken as probes, out of order, and still ahead of the head.
    private var taken: Set<Int> = []

    init(count: Int) { self.count = count }

    /// The next one in upload order.
    mutating func next() -> Int? {
        while head < count {
            head += 1
            if taken.remove(head - 1) == nil { return head - 1 }
        }
        return nil
    }

    /// The first one that was never tried, or else the one tried least among the first few.
    ///
    /// - Parameter attempts: How often an index was tried before.
    mutating func probe(attempts: (Int) -> Int) -> Int? {
        var best: (index: Int, attempts: Int)?
        var looked = 0
        for index in head..<count where !taken.contains(index) {
            let tries = attempts(index)
            if tries < best?.attempts ?? .max { best = (index, tries) }
            looked += 1
            if tries == 0 || looked == Self.probeSearchLimit { break }
        }
        guard let best else { return nil }
        taken.insert(best.index)
        return best.index
    }

    /// A sidecar must be read for each; an outage leaves one on a handful of segments.
    private static let probeSearchLimit = 256
}
