/// An option that does not exist, or has no such value.
struct OptionProblem: Error, CustomStringConvertible {
    let description: String
}
