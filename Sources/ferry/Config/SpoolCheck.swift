import FerrySpool
import FerryUpload
import Glibc

/// Looks at the spools. Nothing in them is touched.
enum SpoolCheck {
    /// Returns what is wrong with them.
    ///
    /// - Parameter isStrict: Whether it is a mistake too that a folder is not there, or cannot be used. Its file system may be mounted later, and
    ///   one that is away does not keep the others waiting.
    static func problems(_ places: [SpoolPattern], _ configuration: RunConfiguration, isStrict: Bool) -> [ConfigProblem] {
        var problems: [ConfigProblem] = []
        var seen: [FileStatus.Identity: String] = [:]
        for (index, place) in places.enumerated() {
            func add(_ message: String) { problems.append(.init(place: configuration.place(of: "spools", index), message)) }
            do throws(FileError) {
                for path in try place.folders() {
                    let identity: FileStatus.Identity
                    do throws(FileError) {
                        identity = try Directory.open(path).identity()
                    } catch {
                        if isStrict { add(SpoolHint(path).text(for: error)) }
                        continue
                    }
                    if isStrict {
                        do throws(FileError) { try Spool.requireSpool(at: path) } catch { add("\(error)") }
                        if access(path, R_OK | W_OK | X_OK) != 0 { add("\(FileError("use", path))") }
                    }
                    if let other = seen[identity] { add("\(path) and \(other) are one folder; name it once") }
                    seen[identity] = path
                }
            } catch {
                if isStrict { add("\(error)") }
            }
        }
        return problems
    }
}
