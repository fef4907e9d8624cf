import FerrySpool
import Glibc

/// The files that options name.
enum NamedFiles {
    /// Throws where one cannot be read, and says which option names it: before anything starts, and in one way for all of them.
    ///
    /// - Parameter files: By their options; `nil`: the option is not given.
    static func require(_ files: KeyValuePairs<String, String?>) throws(CommandError) {
        for (option, file) in files {
            guard let file, access(file, R_OK) != 0 else { continue }
            throw CommandError(.badConfiguration, "\(option): \(FileError("open", file))")
        }
    }
}
