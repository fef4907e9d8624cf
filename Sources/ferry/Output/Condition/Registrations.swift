import FerryReceiver
import FerrySpool
import FerryUpload

/// What a hub's list says of the machine that a spool belongs to.
struct Registration: Equatable, Sendable {
    let name: String
    /// When the machine was added.
    let since: Timestamp
    /// It may send no more.
    let isRevoked: Bool
}

/// The machines that spools belong to, as the lists of the hubs say whose folders they lie in.
struct Registrations: Sendable {
    private var byPath: [String: Registration] = [:]

    /// Reads the lists of the folders that these spools lie in. One that cannot be read tells nothing.
    init(of paths: [String]) {
        for (folder, paths) in Dictionary(grouping: paths, by: \.parentFolder) {
            guard let list = try? MachineFolder(folder).list() else { continue }
            let machines = Dictionary(list.machines.map { ($0.name.text, $0) }) { first, _ in first }
            for path in paths {
                guard let machine = path.split(separator: "/").last.flatMap({ machines[String($0)] }) else { continue }
                byPath[path] = Registration(name: machine.name.text, since: machine.since, isRevoked: machine.isRevoked)
            }
        }
    }

    /// Returns the paths of spools that are not there, although machines may send into them.
    ///
    /// - Parameter found: The paths of those that are there.
    static func missing(from pattern: SpoolPattern, found: [String]) -> [String] {
        guard let folder = pattern.collection, let list = try? MachineFolder(folder).list() else { return [] }
        let found = Set(found)
        return list.machines.filter { !$0.isRevoked }.compactMap { pattern.path(of: $0.name.text) }.filter { !found.contains($0) }
    }

    /// Returns what is known of the machine of the spool at a path; `nil`: it belongs to none.
    subscript(path: String) -> Registration? { byPath[path] }
}

extension String {
    /// The folder that something at this path lies in, for any form of it.
    var parentFolder: String {
        var parts = split(separator: "/").filter { $0 != "." }
        // Of the folder that one is in, only the system knows its place.
        if parts.isEmpty || parts.last == ".." { return hasPrefix("/") && parts.isEmpty ? "/" : "\(self)/.." }
        parts.removeLast()
        return (hasPrefix("/") ? "/" : "") + (parts.isEmpty && !hasPrefix("/") ? "." : parts.joined(separator: "/"))
    }
}
