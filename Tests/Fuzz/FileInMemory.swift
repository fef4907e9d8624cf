import FerrySpool
import Glibc

/// A file for interfaces that take nothing else, without a disk.
struct FileInMemory {
    let file: OpenFile

    init(_ bytes: [UInt8]) throws {
        file = try .inMemory()
        try file.write(bytes)
    }

    /// Hands on a path under which this process can open the file, as long as it is used.
    func use<Result>(_ body: (_ path: String) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(file) { try body("/proc/self/fd/\(file.descriptor)") }
    }
}
