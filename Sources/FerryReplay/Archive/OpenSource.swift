import FerrySpool
import Glibc

/// A source that is open, and is what it was when the replay began, or longer.
struct OpenSource {
    let listed: ReplayFile
    let file: OpenFile
    let status: FileStatus
    /// By how much it is longer.
    let growth: ByteCount?

    /// Opens a source.
    ///
    /// - Throws: ``SourceChangedError`` or `FileError`.
    init(_ listed: ReplayFile) throws {
        guard let file = try OpenFile.readingRegular(listed.path) else { throw FileError("read", listed.path, code: EINVAL) }
        self.listed = listed
        self.file = file
        status = try file.status()
        growth = try Self.growth(from: listed.stamp, to: SourceStamp(status))
    }

    /// Sees that what was read is one content: nothing but appended to since it was opened.
    func requireOneContent() throws { _ = try Self.growth(from: SourceStamp(status), to: SourceStamp(file.status())) }

    private static func growth(from old: SourceStamp, to now: SourceStamp) throws -> ByteCount? {
        switch old.change(to: now) {
        case .none: return nil
        case .grown(let growth): return growth
        case .other: throw SourceChangedError(listed: old, now: now)
        }
    }
}
