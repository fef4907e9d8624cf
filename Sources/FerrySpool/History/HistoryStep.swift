/// How a spool stood in one minute, as coarsely as its history keeps it: in 12 bits.
package struct HistoryStep: Equatable, Sendable {
    /// How old the oldest pending segment was.
    package enum Age: Equatable, Sendable {
        /// Nothing looked.
        case unknown
        /// Nothing was pending.
        case none
        /// About this old.
        case about(Duration)
    }

    /// 0: unknown, 1: nothing pending, 2 to 63: a level of ``HistoryScale/age``.
    private(set) var ageLevel: UInt8
    /// 0: nothing, 1 to 63: a level of ``HistoryScale/bytes``.
    private(set) var bytesLevel: UInt8

    /// A minute in which nothing looked.
    package static let unknown = HistoryStep(bits: 0)

    /// Creates a step of what was seen.
    ///
    /// - Parameters:
    ///   - oldest: The age of the oldest pending segment, negative where it is dated ahead; `nil`: nothing is pending.
    ///   - bytes: What came or was sent in that minute.
    package init(oldest: Duration?, bytes: ByteCount) {
        ageLevel = oldest.map { HistoryScale.age.level(of: $0.inSeconds) } ?? 1
        bytesLevel = bytes > .zero ? HistoryScale.bytes.level(of: Double(bytes.bytes)) : 0
    }

    /// Reads a step; every 12 bits are one.
    init(bits: UInt16) {
        ageLevel = UInt8(bits & 0x3f)
        bytesLevel = UInt8(bits >> 6 & 0x3f)
    }

    var bits: UInt16 { UInt16(ageLevel) | UInt16(bytesLevel) << 6 }

    /// How old the oldest pending segment was.
    package var age: Age {
        switch ageLevel {
        case 0: .unknown
        case 1: .none
        default: .about(.seconds(HistoryScale.age.value(of: ageLevel)))
        }
    }

    /// About how much came or was sent.
    package var bytes: ByteCount { ByteCount(bytesLevel == 0 ? 0 : Int64(HistoryScale.bytes.value(of: bytesLevel))) }

    /// Returns what two processes saw in the same minute: of the age and of the bytes the larger one each.
    package func joined(_ other: HistoryStep) -> HistoryStep {
        var joined = self
        joined.ageLevel = max(ageLevel, other.ageLevel)
        joined.bytesLevel = max(bytesLevel, other.bytesLevel)
        return joined
    }
}
