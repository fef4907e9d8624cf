import FerrySpool

/// What happens to lines that are no events.
enum InvalidLines {
    /// The first one ends the command.
    case stop
    /// They are counted and kept in a file, if there is one.
    case skip(into: OpenFile?)

    init(skips: Bool, path: String?) throws {
        guard skips else {
            self = .stop
            return
        }
        do throws(FileError) {
            self = .skip(into: try path.map(Self.open))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// A line that a full disk cut off ends here, so that the next one does not go on in it.
    private static func open(_ path: String) throws(FileError) -> OpenFile {
        let file = try OpenFile.creating(path, appending: true)
        let status = try file.status()
        if status.isRegular, status.size > .zero, let last = last(of: path, size: status.size), last != UInt8(ascii: "\n") {
            try file.write([UInt8(ascii: "\n")])
        }
        return file
    }

    /// The last byte of a file that may be read.
    private static func last(of path: String, size: ByteCount) -> UInt8? {
        guard let file = try? OpenFile.readingRegular(path) else { return nil }
        return (try? file.readBytes(1, at: size.bytes - 1))?.first
    }
}
