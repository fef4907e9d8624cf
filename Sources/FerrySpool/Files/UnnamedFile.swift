import Glibc

extension OpenFile {
    /// Creates an empty file in a folder, and takes its name away at once: it goes with its descriptor.
    ///
    /// Not with O_TMPFILE, which not every file system has.
    package static func unnamed(in folder: String) throws(FileError) -> OpenFile {
        let path = "\(folder)/.ferry-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = behindStandardStreams(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        guard descriptor >= 0 else { throw FileError("create a file in", folder) }
        unlink(path)
        return OpenFile(descriptor: descriptor, path: "a file in \(folder)")
    }
}
