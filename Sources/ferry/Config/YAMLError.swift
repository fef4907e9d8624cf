/// Why a text is no YAML document, or not one that is read.
struct YAMLError: Error {
    /// Counted from 1.
    let line: Int
    let message: String
}
