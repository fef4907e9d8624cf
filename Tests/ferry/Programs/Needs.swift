import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test on a machine that lacks one of the programs that it runs.
    static func needs(_ programs: String...) -> Self {
        let missing = programs.filter { Program.find($0) == nil }
        return .enabled(
            if: missing.isEmpty, "missing here: \(missing.joined(separator: ", ")); scripts/test --install installs them")
    }

    /// Skips a test on a machine whose Python lacks a module.
    static func needsPython(_ module: String) -> Self {
        .enabled("missing here: Python's \(module); scripts/test --install installs it") {
            try await Program("/usr/bin/env").run("python3", "-c", "import \(module)").status == 0
        }
    }
}
