/// Why a file that the user named cannot be used.
package struct GivenFileError: Error, CustomStringConvertible {
    package let description: String
}
