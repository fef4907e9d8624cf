package import FerrySpool
import Foundation
import Glibc

/// A folder of a test's own, removed with everything in it when the test ends.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/ferry-test-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "cannot create a folder in /tmp")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        unmountAll()
        Self.remove(path)
    }

    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// A spool in it.
    package func spool(_ name: String = "spool") throws -> Spool { try Spool.open(self(name), access: .create) }

    /// Mounts a small tmpfs in it, until the test ends, and returns whether that is allowed here.
    package func mount(_ options: String, at name: String = "m") -> Bool {
        mkdir(self(name), 0o755)
        if Glibc.mount("none", self(name), "tmpfs", 0, options) == 0 { return true }
        print("NOT TESTED: mounting a tmpfs is not allowed here: \(String(cString: strerror(errno)))")
        return false
    }

    /// Takes away what is mounted there, also while a program that another test begins in this moment has a file of it open.
    package func unmount(_ name: String = "m") { umount2(self(name), Int32(MNT_DETACH)) }

    /// Whatever the test has mounted, by whatever program.
    private func unmountAll() {
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return }
        for line in mounts.split(separator: "\n") {
            let place = String(line.split(separator: " ").dropFirst().first ?? "")
            if place.hasPrefix(path + "/") { umount2(place, Int32(MNT_DETACH)) }
        }
    }

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
