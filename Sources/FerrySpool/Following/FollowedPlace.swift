/// How far a log is followed: which of its files is being read, and which of its lines are in the spool.
package struct FollowedPlace: Equatable, Sendable {
    /// The file that is being read, up to behind the last line that was taken.
    package var file: FollowedFile
    /// Where the lines of ``segment`` begin in the file.
    package var start: Int64
    /// The journal that the lines from ``start`` on are in; `nil` while there is none.
    package var segment: String?
    /// How long the journal was when the last line was taken.
    package var length: Int64 = 0
    /// The first part of the file's first line: the copy of what came before ended within it.
    package var carried: [UInt8] = []
    /// What the file is known by as far as it was read, while nothing of it is noted as taken.
    package var ahead: FollowedFile?
    /// The other files that were there, or were read, the newest last.
    package var known: [FollowedFile] = []
    /// The number of the file that had the log's name.
    package var log: UInt64?
    /// Older files than those that are known were there.
    package var hasOlder = false

    /// How many files are known at most besides the one that is read.
    package static let mostKnown = 128
    /// How long a part of a line is at most.
    package static let longestPart = 1 << 20

    /// Creates the place in a file of which all before its offset is in segments.
    package init(_ file: FollowedFile) {
        self.file = file
        start = file.offset
    }

    /// Where to go on, and how many bytes of the journal hold lines that stand behind that.
    ///
    /// A process may die between a write into its journal and the note of it: then the journal is longer than noted. After a power cut it may be
    /// shorter.
    ///
    /// - Parameter journal: How long the journal is; `nil` where that is not known.
    package func resuming(journal: Int64?) -> (offset: Int64, stored: Int64) {
        guard segment != nil, let journal else { return (file.offset, 0) }
        return journal >= length ? (file.offset, journal - length) : (start, journal)
    }

    /// Keeps no more files than are noted.
    ///
    /// - Parameter present: Whether a file was found. Those that are gone give way first.
    package mutating func limit(_ present: (FollowedFile) -> Bool) {
        while known.count > Self.mostKnown {
            if let gone = known.firstIndex(where: { !present($0) }) {
                known.remove(at: gone)
            } else {
                known.removeFirst()
                hasOlder = true
            }
        }
    }
}
