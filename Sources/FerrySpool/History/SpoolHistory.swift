/// How a spool stood in each minute of the last week: the content of `.ferry/history`.
///
/// A ring of fixed size: whichever bytes stand in it, they are steps.
package struct SpoolHistory: Equatable, Sendable {
    /// The minutes of a week.
    package static let capacity = 7 * 24 * 60

    /// The latest minute that it has a step of.
    package private(set) var last: HistoryMinute
    /// Two steps in three bytes.
    private var ring: [UInt8]

    private static let ringSize = capacity / 2 * 3
    private static let magic = Array("ferryh1\n".utf8)
    private static let headerSize = 24

    /// The size of the file.
    package static let size = headerSize + ringSize

    /// Creates a history that knows nothing.
    package init(at minute: HistoryMinute) {
        last = minute
        ring = [UInt8](repeating: 0, count: Self.ringSize)
    }

    /// Reads the content of a file; `nil` unless it is one of this form.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic),
            let number = bytes.word(at: 8), let last = HistoryMinute(exactly: Int64(bitPattern: number)),
            bytes.word(at: 16) == StableHash.of(bytes[..<16])
        else { return nil }
        self.last = last
        ring = Array(bytes[Self.headerSize...])
    }

    /// The content of the file.
    package var bytes: [UInt8] { header + ring }

    private var header: [UInt8] {
        var bytes = Self.magic
        bytes.append(word: UInt64(bitPattern: last.number))
        bytes.append(word: StableHash.of(bytes))
        return bytes
    }

    /// Returns the step of a minute; ``HistoryStep/unknown`` for one that is not in the week before ``last``.
    package subscript(minute: HistoryMinute) -> HistoryStep {
        guard (0..<Int64(Self.capacity)).contains(last - minute) else { return .unknown }
        return step(at: Self.place(of: minute))
    }

    /// Notes a step.
    ///
    /// - Parameter minute: One later than ``last`` makes the minutes between unknown. Of an earlier one the clock was set back, and what lies ahead of
    ///   it is forgotten: it is not the future.
    package mutating func note(_ step: HistoryStep, at minute: HistoryMinute) {
        let known = minute > last ? .unknown : self[minute]
        let distance = minute - last
        for offset in 0..<Int(min(distance.magnitude, UInt64(Self.capacity))) {
            set(.unknown, at: Self.place(of: distance > 0 ? minute + -offset : last + -offset))
        }
        last = minute
        set(known.joined(step), at: Self.place(of: minute))
    }

    /// Returns what of the file differs from an earlier content: the header, and the bytes of one minute where only that one differs.
    func changes(since earlier: SpoolHistory) -> [(offset: Int64, bytes: [UInt8])] {
        guard (0...1).contains(last - earlier.last) else { return [(0, bytes)] }
        let start = Self.place(of: last) / 2 * 3
        return [(Int64(Self.headerSize + start), Array(ring[start..<start + 3])), (0, header)]
    }

    private static func place(of minute: HistoryMinute) -> Int {
        Int(minute.number.flooredDivision(by: Int64(capacity)).remainder)
    }

    private func step(at place: Int) -> HistoryStep {
        let start = place / 2 * 3
        let pair = UInt32(ring[start]) | UInt32(ring[start + 1]) << 8 | UInt32(ring[start + 2]) << 16
        return HistoryStep(bits: UInt16(truncatingIfNeeded: pair >> (place % 2 * 12)) & 0xfff)
    }

    private mutating func set(_ step: HistoryStep, at place: Int) {
        let start = place / 2 * 3
        var pair = UInt32(ring[start]) | UInt32(ring[start + 1]) << 8 | UInt32(ring[start + 2]) << 16
        pair = pair & ~(0xfff << UInt32(place % 2 * 12)) | UInt32(step.bits) << UInt32(place % 2 * 12)
        for index in 0..<3 { ring[start + index] = UInt8(truncatingIfNeeded: pair >> UInt32(index * 8)) }
    }
}

extension [UInt8] {
    /// Returns the eight bytes at an index as a number, the lowest byte first.
    fileprivate func word(at index: Int) -> UInt64? {
        guard index + 8 <= count else { return nil }
        return (0..<8).reduce(0) { $0 | UInt64(self[index + $1]) << UInt64($1 * 8) }
    }

    fileprivate mutating func append(word: UInt64) {
        for index in 0..<8 { append(UInt8(truncatingIfNeeded: word >> UInt64(index * 8))) }
    }
}
