import Glibc

/// Bytes in memory that may not be there: unlike an array, which ends the process then.
struct HeldBytes: ~Copyable {
    /// The whole of it, with bytes that mean nothing behind ``count``.
    let room: UnsafeMutableRawBufferPointer
    var count = 0

    /// Allocates room for a number of bytes.
    ///
    /// - Returns: `nil` where there is not enough memory.
    init?(capacity: Int) {
        guard let start = malloc(max(capacity, 1)) else { return nil }
        room = UnsafeMutableRawBufferPointer(start: start, count: capacity)
    }

    deinit { free(room.baseAddress) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

    func write(to file: OpenFile) throws(FileError) { try file.write(bytes) }

    /// Adds bytes, for which there is room.
    mutating func append(_ more: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: more)
        count += more.count
    }
}
