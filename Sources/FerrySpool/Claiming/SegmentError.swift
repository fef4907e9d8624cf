/// Everything that can be wrong inside a segment.
package enum SegmentError: Error, Equatable, Sendable, CustomStringConvertible {
    case damaged(GzipError)
    case notJSONLines(JSONLineError)
    /// The writer's note says something else than the content.
    case wrongNote(noted: Int64, found: Int64)

    /// What is wrong, for people.
    package var description: String {
        switch self {
        case .damaged(let damage): damage.description
        case .notJSONLines(let problem): problem.description
        case .wrongNote(let noted, let found): "its header says \(noted) events, but it holds \(found)"
        }
    }
}
