import FerrySpool
import FerryUpload

/// Which spools a page is of.
struct HubPlaces: Sendable {
    /// A spool and what it is called.
    struct Place: Sendable, Hashable {
        let path: String
        let name: String
    }

    private let patterns: [SpoolPattern]

    init(_ patterns: [SpoolPattern]) { self.patterns = patterns }

    /// Returns the spools that are there now, each once, whichever patterns name it.
    ///
    /// - Parameter note: Called with each place that cannot be read.
    func places(note: (FileError) -> Void) -> [Place] {
        var places: [Place] = []
        var seen: Set<FileStatus.Identity> = []
        for pattern in patterns {
            do throws(FileError) {
                let folders = try pattern.folders()
                // A machine whose spool is gone must not look like one that never was.
                for path in folders + Registrations.missing(from: pattern, found: folders) {
                    if patterns.count > 1, let identity = try? FileStatus(of: path).identity, !seen.insert(identity).inserted {
                        continue
                    }
                    // Of a collection the folders' names are the machines'.
                    places.append(Place(path: path, name: pattern.isCollection ? Self.lastName(of: path) : path))
                }
            } catch {
                note(error)
            }
        }
        return places
    }

    private static func lastName(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
