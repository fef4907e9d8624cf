import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test on a machine that lacks one of the programs that it runs.
    static func needs(_ programs: String...) -> Self {
        let missing = programs.filter { Program.find($0) == nil }
        return .enabled(
            if: missing.isEmpty, "missing here: \(missing.joined(separator: ", ")); scripts/test --install installs them")
    }
}
