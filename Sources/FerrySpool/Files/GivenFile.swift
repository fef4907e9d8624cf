import Glibc

/// Reads a small file that the user named: a regular one, or what a program writes into a pipe, as in `--config <(…)`.
package enum GivenFile {
    /// How long a program may take to write it.
    private static let patience = Duration.seconds(10)

    /// Reads the whole content. A pipe that is read again has none, which is not the same as an empty file.
    package static func bytes(_ path: String, limit: ByteCount) throws(GivenFileError) -> [UInt8] {
        let reading: Reading
        do throws(FileError) { reading = try read(path, limit) } catch { throw GivenFileError(description: error.description) }
        switch reading {
        case .bytes(let bytes): return bytes
        case .tooLarge: throw GivenFileError(description: "\(path) is larger than \(limit): is it the right file?")
        case .endless:
            throw GivenFileError(description: "\(path): what writes it does not end within \(patience.forPeople)")
        case .nothing:
            throw GivenFileError(
                description: "nothing comes from \(path): what comes through a pipe can be read once; put it into a file")
        }
    }

    private enum Reading {
        case bytes([UInt8])
        case tooLarge
        case endless
        case nothing
    }

    private static func read(_ path: String, _ limit: ByteCount) throws(FileError) -> Reading {
        let file = try OpenFile.readingAnything(path)
        let isRegular = try file.status().isRegular
        let end = ContinuousClock.now + patience
        var bytes: [UInt8] = []
        while true {
            guard isRegular || file.isReadable(before: end) else { return .endless }
            let piece = try file.nextBytes(1 << 16)
            if piece.isEmpty { return bytes.isEmpty && !isRegular ? .nothing : .bytes(bytes) }
            bytes += piece
            if ByteCount(Int64(bytes.count)) > limit { return .tooLarge }
        }
    }
}
