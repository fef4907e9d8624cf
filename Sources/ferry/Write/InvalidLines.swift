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
            self = .skip(into: try path.map { path throws(FileError) in try OpenFile.creating(path, appending: true) })
        } catch {
            throw CommandFailure(.localFailure, error.description)
        }
    }
}
