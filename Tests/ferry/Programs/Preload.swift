import Foundation
import TestSupport
import Testing

/// A library that stands between a program and the C library: it lets calls fail, or hang.
enum Preload {
    /// Builds one from C, and returns its path.
    static func build(_ source: String, in folder: TemporaryFolder) async throws -> String {
        let compiler = try #require(Program.find("cc"))
        try source.write(toFile: folder("preload.c"), atomically: true, encoding: .utf8)
        let built = try await Program(compiler).run("-shared", "-fPIC", "-o", folder("preload.so"), folder("preload.c"))
        try #require(built.status == 0, "\(built.errors)")
        return folder("preload.so")
    }
}
