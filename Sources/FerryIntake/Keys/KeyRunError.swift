package import FerrySpool
import Glibc

/// What went wrong with a run: it is of no use, or the disk failed.
package enum KeyRunError: Error {
    /// It is damaged, gone, or of another log: what it covered is in the log itself.
    case unusable(name: String)
    case file(FileError)
}

/// Does file work with a run.
///
/// - Parameter body: Returns `nil` where the run turns out to be of no use.
func using<Value>(_ run: KeyRunName, _ body: () throws(FileError) -> Value?) throws(KeyRunError) -> Value {
    let value: Value?
    do throws(FileError) { value = try body() } catch {
        // What a bad sector had is in the log as well. A link, a folder or a pipe in its place is no run.
        throw [EIO, ELOOP, EISDIR, ESPIPE, ENXIO].contains(error.code) ? .unusable(name: run.fileName) : .file(error)
    }
    guard let value else { throw .unusable(name: run.fileName) }
    return value
}
