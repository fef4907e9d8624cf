import FerrySpool
import FerryUpload

/// The spools that several names stand for: folders, and patterns for those in a folder.
struct SpoolPaths {
    /// Each folder once, whichever names lead to it, in their order.
    private(set) var paths: [String] = []
    /// The names that are patterns.
    private var collections: [SpoolPattern] = []
    /// What is wrong with names that stand for nothing. An unmounted hub must not look like one where all is well.
    private(set) var problems: [String] = []

    init(_ names: [String]) {
        var seen: Set<FileStatus.Identity> = []
        for name in names {
            let pattern = SpoolPattern(name)
            if pattern.isCollection { collections.append(pattern) }
            do throws(FileError) {
                let folders = try pattern.folders()
                if folders.isEmpty { problems.append("'\(name)' matches nothing: is its file system mounted?") }
                for path in folders where isNew(path, &seen) { paths.append(path) }
            } catch {
                problems.append("'\(name)' matches nothing: \(error)")
            }
        }
    }

    /// Whether one of the names is a pattern: what it stands for is several, however many there are now.
    var isCollection: Bool { !collections.isEmpty }

    /// Adds the spools of a hub's machines that are not there.
    mutating func addMissing() {
        for pattern in collections { paths += Registrations.missing(from: pattern, found: paths) }
    }

    private func isNew(_ path: String, _ seen: inout Set<FileStatus.Identity>) -> Bool {
        // One that is not there is missed by each of its names.
        guard let identity = try? FileStatus(of: path).identity else { return !paths.contains(path) }
        return seen.insert(identity).inserted
    }

    /// Throws where no name stands for anything.
    func requireSome() throws(CommandError) {
        if paths.isEmpty { throw CommandError(.localFailure, problems) }
    }
}
