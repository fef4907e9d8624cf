/// Why a replay cannot go on now.
public enum ReplayError: Error, Equatable, CustomStringConvertible {
    /// Another process sends it.
    case underWay(run: String, process: Int32?)
    /// Another process has ended it.
    case gone(run: String)

    /// The reason, for people.
    public var description: String {
        switch self {
        case .underWay(let run, let process): "\(run) is under way\(process.map { " (process \($0))" } ?? "")"
        case .gone(let run): "there is no replay \(run) any more"
        }
    }
}
