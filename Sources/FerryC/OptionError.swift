/// An option that does not exist, or has no such value.
struct OptionError: Error, CustomStringConvertible {
    let description: String
}
