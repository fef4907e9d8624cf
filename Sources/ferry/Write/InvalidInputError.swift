import FerrySpool

/// A line that is no event, where none may be.
struct InvalidInputError: Error {
    let path: String
    let problem: JSONLineError
}
