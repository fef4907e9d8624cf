/// Why a file that the user named cannot be used.
package struct GivenFileError: Error, CustomStringConvertible {
    /// The reason, for people.
    package let description: String
}
