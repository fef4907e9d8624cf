/// Compares tokens in a time that does not depend on where they differ.
enum BearerToken {
    static func matches(_ header: String?, _ token: String) -> Bool {
        guard let header, header.prefix(7).lowercased() == "bearer " else { return false }
        let given = Array(header.dropFirst(7).utf8)
        let expected = Array(token.utf8)
        // The length may leak, the content not: every byte is looked at.
        var difference = given.count ^ expected.count
        for index in expected.indices {
            difference |= Int(expected[index] ^ (index < given.count ? given[index] : 0))
        }
        return difference == 0
    }
}
