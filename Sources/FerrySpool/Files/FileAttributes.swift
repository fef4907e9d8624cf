import CLinux
import Glibc

extension OpenFile {
    /// All that is noted of the segment. Most have nothing, which one call of the kernel tells.
    package var notes: SegmentNotes {
        guard flistxattr(descriptor, nil, 0) > 0 else { return SegmentNotes() }
        return SegmentNotes(trail: trail, clockReading: clockReading, dated: dated)
    }

    /// The way that the segment came; ``Trail/none`` where that is not noted.
    package var trail: Trail { attribute(Self.trailName, longest: Trail.longestText).flatMap { Trail($0) } ?? .none }

    /// - Returns: Whether it is noted: not on a file system without extended attributes, nor in another user's file.
    @discardableResult
    package func setTrail(_ trail: Trail) -> Bool { setAttribute(Self.trailName, trail.text) }

    /// What the clock said when the segment was opened, where that is not the time in its name.
    package var clockReading: Timestamp? {
        attribute(Self.clockName, longest: Self.longestTime).flatMap { Timestamp(rfc3339: $0) }
    }

    /// Notes what the clock said, if the file system can.
    package func setClockReading(_ reading: Timestamp) { _ = setAttribute(Self.clockName, reading.rfc3339) }

    /// When the segment was opened, as far as that is known, where the clock that dated it was behind.
    package var dated: Timestamp? { attribute(Self.datedName, longest: Self.longestTime).flatMap { Timestamp(rfc3339: $0) } }

    /// Notes when the segment was opened, if the file system can.
    package func setDated(_ dated: Timestamp) { _ = setAttribute(Self.datedName, dated.rfc3339) }

    /// Takes over what another file's segment has noted.
    func inheritAttributes(of other: OpenFile) {
        let trail = other.trail
        if trail != .none { setTrail(trail) }
        if let reading = other.clockReading { setClockReading(reading) }
        if let dated = other.dated { setDated(dated) }
    }

    private static let trailName = "user.ferry.hops"
    private static let clockName = "user.ferry.clock"
    private static let datedName = "user.ferry.dated"
    private static let longestTime = 32

    /// Reads an extended attribute as text.
    ///
    /// - Parameter longest: A longer value is none of Ferry's.
    private func attribute(_ name: String, longest: Int) -> String? {
        withUnsafeTemporaryAllocation(byteCount: longest, alignment: 1) { buffer in
            let count = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }

    private func setAttribute(_ name: String, _ value: String) -> Bool {
        let text = Array(value.utf8)
        return fsetxattr(descriptor, name, text, text.count, 0) == 0
    }
}
