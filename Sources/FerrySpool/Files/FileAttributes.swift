import CLinux
import Glibc

/// What goes along with a segment in extended attributes: a copy by other tools may lose it, and a file system without them keeps none.
extension OpenFile {
    /// Through how many receivers the segment came; 0 where that is not noted.
    public var hops: Int { attribute(Self.hopsName).flatMap { Int($0) }.map { min(max($0, 0), 999) } ?? 0 }

    /// Where it cannot be noted, only the keys stop a loop.
    public func setHops(_ hops: Int) { setAttribute(Self.hopsName, "\(min(hops, 999))") }

    /// What the clock said when the segment was opened, where that is not the time in its name.
    public var clockReading: Timestamp? { attribute(Self.clockName).flatMap { Timestamp(rfc3339: $0) } }

    public func setClockReading(_ reading: Timestamp) { setAttribute(Self.clockName, reading.rfc3339) }

    /// Takes over what another file's segment has noted.
    func inheritAttributes(of other: OpenFile) {
        let hops = other.hops
        if hops > 0 { setHops(hops) }
        if let reading = other.clockReading { setClockReading(reading) }
    }

    private static let hopsName = "user.ferry.hops"
    private static let clockName = "user.ferry.clock"
    /// As long as a time is. A longer value is none of Ferry's.
    private static let longestAttribute = 32

    private func attribute(_ name: String) -> String? {
        withUnsafeTemporaryAllocation(byteCount: Self.longestAttribute, alignment: 1) { buffer in
            let count = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }

    private func setAttribute(_ name: String, _ value: String) {
        let text = Array(value.utf8)
        _ = fsetxattr(descriptor, name, text, text.count, 0)
    }
}
