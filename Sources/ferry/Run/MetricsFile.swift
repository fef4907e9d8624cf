import FerrySpool
import Glibc
import Synchronization

/// A file of metrics for node_exporter's textfile collector.
final class MetricsFile: Sendable {
    private let path: String
    private let log: Log
    /// Why it could not be written last.
    private let problem = Mutex<String?>(nil)

    init(_ path: String, log: Log) {
        self.path = path
        self.log = log
    }

    /// Replaces it as a whole. That it cannot be written is told once, and when it can again.
    ///
    /// A disk that does not answer keeps the task waiting until it is cancelled.
    func write(_ text: String) async {
        let path = path
        guard let found = await abandonable({ Self.problem(writing: text, to: path) }) else { return }
        let before = problem.withLock { known in
            defer { known = found }
            return known
        }
        if let found, found != before { log.warn("metrics: \(found); it is tried again every 15 s") }
        if found == nil, before != nil { log.note("metrics: \(path) is written again") }
    }

    /// Replaces it; returns what went wrong.
    private static func problem(writing text: String, to path: String) -> String? {
        // A reader must never see half of it.
        let temporary = path + ".tmp"
        do throws(FileError) {
            // Of an earlier process, or a link that another user has put there.
            unlink(temporary)
            let file = try OpenFile.creatingNew(temporary)
            do throws(FileError) {
                try file.write(Array(text.utf8))
                guard fchmod(file.descriptor, 0o644) == 0, rename(temporary, path) == 0 else { throw FileError("write", path) }
            } catch {
                unlink(temporary)
                throw error
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
