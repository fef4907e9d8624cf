/// Which of the files of a log are known, and which came since.
package struct FollowMatch: Equatable, Sendable {
    /// What a file is.
    package enum Part: Equatable, Sendable {
        /// The known file of this index: what is behind its place is not stored.
        case known(Int)
        /// A shorter copy of it, or what is left of it: all is stored.
        case start(of: Int)
        /// A copy of the log as it is now.
        case copy
        /// One of which nothing is stored.
        case new
    }

    /// A rotated file as a look found it.
    package enum Seen: Equatable, Sendable {
        /// The known file of this index, as it was found before.
        case unchanged(Int)
        case sight(FileSight)
        /// One that has no lines, or none that can be read.
        case nothing
    }

    /// What has the log's name; `nil` where nothing has.
    package private(set) var log: Part?
    /// The rotated files, in the order they were given in; `nil` for those without lines.
    package private(set) var rotated: [Part?]
    /// Whether the log is still the file that it was, and was emptied: rotated files are copies, and their last lines go on in the next.
    package private(set) var isCopying = false

    /// The new files whose lines are all those of a known one, or its first: copies, or files that are alike.
    package private(set) var doubtful: Set<Int> = []

    private let known: [FollowedFile]
    private let seen: [Seen]
    private let sight: FileSight?
    private let isSameLog: Bool
    /// The known files that were found, and those of them that were found under their number.
    private var found: Set<Int> = []
    private var foundByNumber: Set<Int> = []

    /// A copy with another number that has grown must have as much in common at least with a file that was read long ago: lines of starts are alike.
    private static let strongProof: Int64 = 256

    /// Compares the files of a log with what is known.
    ///
    /// - Parameters:
    ///   - known: The known files; the first is the one that was read last.
    ///   - log: What has the log's name.
    ///   - isSameLog: That has the number of the file that had the name before.
    ///   - rotated: The rotated files, the oldest first.
    package init(_ known: [FollowedFile], log: FileSight?, isSameLog: Bool, rotated seen: [Seen]) {
        (self.known, self.seen, sight) = (known, seen, log)
        self.isSameLog = isSameLog
        rotated = Array(repeating: nil, count: seen.count)
        for (index, seen) in seen.enumerated() {
            if case .unchanged(let entry) = seen { take(entry, index, byNumber: true) }
        }
        matchNumbers()
        matchContents()
        if isSameLog {
            isCopying =
                switch self.log {
                case nil: true
                case .known(let entry): known[entry].offset == 0
                default: false
                }
        }
        matchStarts()
        for (index, sight) in open {
            rotated[index] = .new
            let isLikeKnown = known.contains { $0.isBegun(by: sight) || $0.offset == sight.size && $0.isHeld(by: sight) }
            if sight.size >= Self.strongProof, isLikeKnown { doubtful.insert(index) }
        }
        if sight != nil, self.log == nil { self.log = .new }
    }

    /// Returns whether a known file was found.
    package func isFound(_ entry: Int) -> Bool { found.contains(entry) }

    private func sight(_ index: Int) -> FileSight? { if case .sight(let sight) = seen[index] { sight } else { nil } }

    /// The rotated files that are not matched yet.
    private var open: [(index: Int, sight: FileSight)] {
        seen.indices.compactMap { index in rotated[index] == nil ? sight(index).map { (index, $0) } : nil }
    }

    private mutating func take(_ entry: Int, _ index: Int, byNumber: Bool = false) {
        rotated[index] = .known(entry)
        found.insert(entry)
        if byNumber { foundByNumber.insert(entry) }
    }

    /// Files that have the number and the bytes of known ones.
    private mutating func matchNumbers() {
        for (entry, file) in known.enumerated() where !found.contains(entry) {
            if log == nil, let sight, sight.inode == file.inode, file.isHeld(by: sight) {
                log = .known(entry)
                found.insert(entry)
                foundByNumber.insert(entry)
            } else if let same = open.first(where: { $0.sight.inode == file.inode && file.isHeld(by: $0.sight) }) {
                take(entry, same.index, byNumber: true)
            }
        }
    }

    /// Files with other numbers that have the bytes: copies, also compressed ones.
    private mutating func matchContents() {
        for (entry, file) in known.enumerated() where !found.contains(entry) && file.offset > 0 {
            let same = open.first {
                $0.sight.size == file.offset && ($0.sight.tells || $0.sight.isCompressed) && file.isHeld(by: $0.sight)
            }
            if let same { take(entry, same.index) }
        }
        for (entry, file) in known.enumerated() where !found.contains(entry) && file.offset > 0 {
            guard entry == 0 || file.offset >= Self.strongProof else { continue }
            let holders = open.filter { file.isHeld(by: $0.sight) }
            guard var best = holders.first else { continue }
            var shorter: [Int] = []
            for other in holders.dropFirst() {
                // Copies of one file, made one after the other; or a file that begins alike.
                if best.sight.isStart(of: other.sight) {
                    shorter.append(best.index)
                    best = other
                } else if other.sight.isStart(of: best.sight) {
                    shorter.append(other.index)
                }
            }
            take(entry, best.index)
            for index in shorter { rotated[index] = .start(of: entry) }
        }
        guard log == nil, let sight, let last = known.first, !found.contains(0), last.offset > 0 else { return }
        if last.isHeld(by: sight) {
            // Replaced by a copy of itself.
            log = .known(0)
            found.insert(0)
        } else if last.inode == sight.inode, sight.size >= Self.strongProof, last.isBegun(by: sight) {
            // Cut, as by a power cut.
            log = .start(of: 0)
        }
    }

    /// Copies that were made before the log was emptied, or before that is seen.
    private mutating func matchStarts() {
        // Those are older than a longer copy, and than the copies of what the log got later.
        let holder = rotated.firstIndex(of: .known(0))
        if isCopying, !foundByNumber.contains(0) {
            for (index, sight) in open {
                if let holder, index > holder { break }
                guard sight.tells, known[0].isBegun(by: sight) else { break }
                rotated[index] = .start(of: 0)
            }
        }
        // Or a file was compressed while a program wrote on into it.
        for (index, sight) in open where sight.isCompressed && sight.size >= Self.strongProof {
            let entry = known.indices.first { !foundByNumber.contains($0) && known[$0].isBegun(by: sight) }
            if let entry { rotated[index] = .start(of: entry) }
        }
        guard isSameLog, let whole = sight else { return }
        let isTaken = if case .known(let entry) = log { known[entry].offset > 0 } else { false }
        for (index, sight) in open where (isTaken || sight.tells) && sight.isStart(of: whole) { rotated[index] = .copy }
    }
}

extension FileSight {
    /// Whether it has a whole line, or as much: the first bytes of a line may be those of any.
    fileprivate var tells: Bool { size >= FollowedFile.longestHead || head.contains(UInt8(ascii: "\n")) }
}
