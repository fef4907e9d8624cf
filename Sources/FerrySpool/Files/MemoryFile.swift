import CLinux
import Glibc

extension OpenFile {
    /// Creates an empty file that lies in memory and goes with its descriptor: Linux's memfd_create(2).
    package static func inMemory() throws(FileError) -> OpenFile {
        // 1: MFD_CLOEXEC.
        let descriptor = behindStandardStreams(memfd_create("ferry", 1))
        guard descriptor >= 0 else { throw FileError("create", "a file in memory") }
        return OpenFile(descriptor: descriptor, path: "a file in memory")
    }
}
