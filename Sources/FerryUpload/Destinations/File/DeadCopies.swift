import FerrySpool
import Synchronization

/// The hidden files that copies have until they are complete, and that killed processes leave.
///
/// Their names tell which machine and spool they are of: what another one has under way is never touched.
final class DeadCopies: Sendable {
    private let start: String
    /// Whether files have names where they need none.
    let namesAll: Bool
    /// The folders that were looked through.
    private let seen = Mutex<Set<FileStatus.Identity>>([])

    static let suffix = ".ferry-copy"
    /// A copy writes on as long as it lives.
    static let age = Duration.seconds(86_400)
    private static let mostLookedAt = 10_000
    private static let mostFolders = 1000

    init(machine: String, spool: String, namesAll: Bool = false) {
        start = ".\(ContentHash.of("\(machine)\n\(spool)".utf8).hexadecimal.prefix(12))-"
        self.namesAll = namesAll
    }

    func name() -> String { "\(start)\(SegmentID.random())\(Self.suffix)" }

    /// Returns whether a name was given by this machine for this spool.
    func isOwn(_ name: String) -> Bool { name.hasPrefix(start) && name.hasSuffix(Self.suffix) }

    /// Removes what is a day old, once in each folder, and only among the first names of a large one. What cannot be removed stays.
    ///
    /// - Parameter file: One that was just made there: by the clock that the other files have their times of.
    func remove(from folder: Directory, asOf file: OpenFile, age: Duration = DeadCopies.age) {
        guard let identity = try? folder.identity(), let now = try? file.status().changed else { return }
        let isNew = seen.withLock { seen in
            if seen.count >= Self.mostFolders { seen = [] }
            return seen.insert(identity).inserted
        }
        guard isNew, let names = try? folder.hiddenNames(amongFirst: Self.mostLookedAt) else { return }
        for name in names where isOwn(name) {
            guard let status = (try? folder.status(name)) ?? nil, status.isRegular, now - status.changed > age else { continue }
            try? folder.remove(name)
        }
    }
}
