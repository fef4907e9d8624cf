import FerrySpool
import Glibc

/// Looks at the folder that the file of `metrics.file` goes into. Nothing in it is touched.
enum MetricsFolderCheck {
    /// Returns what is wrong with it; `nil` where a file can be written there, or none is to be.
    static func problem(_ configuration: RunConfiguration) -> ConfigProblem? {
        guard let path = ConfigValues(configuration).text("metrics.file") else { return nil }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard access(folder, W_OK | X_OK) != 0 else { return nil }
        return .init(
            place: configuration.place(of: "metrics.file", 0), "metrics.file '\(path)': \(FileError("write in", folder))")
    }
}
