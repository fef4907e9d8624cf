package import FerrySpool

/// Why a list of machines cannot be changed.
package enum MachineChangeError: Error, CustomStringConvertible {
    case file(FileError)
    /// Lines of the file are no machines, and would be lost.
    case unreadable([String])
    case refused(String)

    /// The reason, for people.
    package var description: String {
        switch self {
        case .file(let error): error.description
        case .unreadable(let problems): "\(problems.joined(separator: "; ")); mend or delete the line"
        case .refused(let text): text
        }
    }
}
