import FerrySpool

/// What happens to lines that are no events.
enum InvalidLines {
    /// The first one ends the command.
    case stop
    /// They are counted and kept in a file, if there is one.
    case skip(into: OpenFile?)

    /// - Parameter inputs: What is read. The file may be none of them: what it gets would be read and skipped for ever.
    init(skips: Bool, path: String?, inputs: [String]) throws {
        guard skips else {
            self = .stop
            return
        }
        guard let path else {
            self = .skip(into: nil)
            return
        }
        let file: OpenFile
        let status: FileStatus
        do throws(FileError) {
            file = try .creating(path, appending: true)
            status = try file.status()
        } catch {
            throw CommandError(error)
        }
        if status.isRegular, inputs.contains(where: { Self.identity(of: $0) == status.identity }) {
            throw CommandError(.usage, "--invalid \(path) is what is read: name another file for the lines that are skipped")
        }
        do throws(FileError) { try Self.endLine(in: file, path, status) } catch { throw CommandError(error) }
        self = .skip(into: file)
    }

    /// Appends a line, or a piece of one, to the file for such lines.
    ///
    /// - Parameter endsLine: A line feed follows.
    /// - Returns: Whether the line has ended then.
    func keep(_ bytes: UnsafeBufferPointer<UInt8>, endsLine: Bool) throws(FileError) -> Bool {
        guard case .skip(let sink?) = self else { return true }
        try sink.write(UnsafeRawBufferPointer(bytes))
        if endsLine { try sink.write([UInt8(ascii: "\n")]) }
        return endsLine || bytes.last == UInt8(ascii: "\n")
    }

    private static func identity(of input: String) -> FileStatus.Identity? {
        let file = input == "-" ? OpenFile.standardInput() : try? OpenFile.readingRegular(input)
        return (try? file?.status())?.identity
    }

    /// Ends a line that a full disk cut off, so that the next one does not go on in it.
    private static func endLine(in file: OpenFile, _ path: String, _ status: FileStatus) throws(FileError) {
        guard status.isRegular, status.size > .zero, let last = last(of: path, size: status.size), last != UInt8(ascii: "\n")
        else { return }
        try file.write([UInt8(ascii: "\n")])
    }

    /// Returns the last byte of a file that may be read.
    private static func last(of path: String, size: ByteCount) -> UInt8? {
        guard let file = try? OpenFile.readingRegular(path) else { return nil }
        return (try? file.readBytes(1, at: size.bytes - 1))?.first
    }
}
