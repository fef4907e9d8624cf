import Glibc

@testable import FerrySpool

extension FuzzTarget {
    /// Moments, as texts and as numbers.
    static let timestamps = FuzzTarget("timestamps", longest: 80) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let time = Timestamp(rfc3339: text) { try expectSound(time) }
        if let time = bytes.withUnsafeBufferPointer({ Timestamp(compact: $0) }) {
            try expectSound(time)
            try expect(Array(time.compact.utf8) == bytes, "a compact time prints as it was")
        }
        guard bytes.count >= 16 else { return }
        let (first, second) = bytes.withUnsafeBytes {
            ($0.loadUnaligned(as: Int64.self), $0.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        }
        try expectSound(Timestamp(milliseconds: first))
        try expectSound(Timestamp(timespec(tv_sec: Int(first), tv_nsec: Int(second))))
        let time = Timestamp(milliseconds: first)
        try expectSound(time + .seconds(second))
        try expectSound(time - .nanoseconds(second))
        let other = Timestamp(milliseconds: second)
        try expect(time + (other - time) == other, "a difference leads from one moment to the other")
        if let exact = Timestamp(exactly: first) { try expect(exact.milliseconds == first, "an exact moment is exact") }
    }

    private static func expectSound(_ time: Timestamp) throws {
        try expect(Timestamp(rfc3339: time.rfc3339) == time, "a time prints as it is read")
        let compact = Array(time.compact.utf8).withUnsafeBufferPointer { Timestamp(compact: $0) }
        try expect(compact == time, "a compact time prints as it is read")
        try expect(time.day.utf8.count == 10 && time.compactDay.utf8.count == 8, "a day has its length")
        try expect(CivilTime(time).timestamp == time, "a calendar's fields lead back to the time")
    }

    /// Sizes, durations and times of day, as people write them.
    static let quantities = FuzzTarget("quantities", longest: 80) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let duration = Duration(parsing: text) {
            try expect(duration >= .zero && duration <= .century, "a duration is within its bounds")
            try expect(!duration.forPeople.isEmpty, "a duration can be told")
        }
        if let size = ByteCount(parsing: text) {
            try expect(size >= .zero, "no size is negative")
            try expect(!size.description.isEmpty, "a size can be told")
        }
        if let time = DayTime(parsing: text) {
            try expect((0...86_400).contains(time.seconds), "a time is within a day")
            try expect(DayTime(parsing: time.description) == time, "a time of day prints as it is read")
        }
        guard bytes.count >= 8 else { return }
        let number = bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
        try expect(!ByteCount(number).description.isEmpty, "any size can be told")
        try expect(!Duration.seconds(number).forPeople.isEmpty, "any duration can be told")
        _ = Duration.seconds(number).inSeconds
    }
}
