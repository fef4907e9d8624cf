/// Compares tokens in a time that does not depend on where they differ.
package enum BearerToken {
    /// Returns whether an `Authorization` header shows the token.
    package static func matches(_ header: String?, _ token: String) -> Bool {
        guard let header, header.prefix(7).lowercased() == "bearer " else { return false }
        return isSame(String(header.dropFirst(7)), token)
    }

    /// Returns whether two texts are the same.
    package static func isSame(_ given: String, _ token: String) -> Bool {
        let given = Array(given.utf8)
        let expected = Array(token.utf8)
        // The length may leak, the content not: every byte is looked at.
        var difference = given.count ^ expected.count
        for index in expected.indices {
            difference |= Int(expected[index] ^ (index < given.count ? given[index] : 0))
        }
        return difference == 0
    }
}
