import FerrySpool

/// A line that is no event, where none may be.
struct InvalidInput: Error {
    let path: String
    let problem: JSONLineProblem
}
