import Foundation
import TestSupport

/// A library that stands between a program and the C library: it lets calls fail, or hang.
enum Preload {
    /// Builds one from C.
    ///
    /// - Returns: Its path; `nil`, with a line that says so, where there is no compiler.
    static func build(_ source: String, in folder: TemporaryFolder) async throws -> String? {
        guard let compiler = Program.find("cc") ?? Program.find("clang") else {
            print("NOT TESTED: no C compiler")
            return nil
        }
        try source.write(toFile: folder("preload.c"), atomically: true, encoding: .utf8)
        let built = try await Program(compiler).run("-shared", "-fPIC", "-o", folder("preload.so"), folder("preload.c"))
        guard built.status == 0 else {
            print("NOT TESTED: \(built.errors)")
            return nil
        }
        return folder("preload.so")
    }
}
