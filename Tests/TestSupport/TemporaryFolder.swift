public import FerrySpool
import Glibc

/// A folder of a test's own, removed with everything in it when the test ends.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() {
        var template = Array("/tmp/ferry-test-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "cannot create a folder in /tmp")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    public func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// A spool in it.
    public func spool(_ name: String = "spool") throws -> Spool { try Spool.open(self(name), access: .create) }

    private static func remove(_ path: String) {
        chmod(path, 0o700)
        if let stream = opendir(path) {
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name == "." || name == ".." { continue }
                if unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
            }
            closedir(stream)
        }
        rmdir(path)
    }
}
