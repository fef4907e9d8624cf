/// Who the events of a spool's trackers come from: the content of `.ferry/identity.json`.
package struct SpoolIdentity: Codable, Equatable, Sendable {
    /// The format's version.
    package var version = 1
    /// A random UUID, made once for the spool.
    package var anonymousID: String
    /// The ID of the user who is logged in; `nil` when none is.
    package var userID: String?
    /// When the identity was made.
    package var createdAt: Timestamp

    enum CodingKeys: String, CodingKey {
        case version, createdAt
        case anonymousID = "anonymousId"
        case userID = "userId"
    }

    /// Creates an identity without a user.
    package init(anonymousID: String, createdAt: Timestamp) {
        self.anonymousID = anonymousID
        self.createdAt = createdAt
    }

    /// Decodes an identity; throws `DecodingError` when an ID is empty, too long, or has a zero byte.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        anonymousID = try container.decode(String.self, forKey: .anonymousID)
        userID = try container.decodeIfPresent(String.self, forKey: .userID)
        createdAt = try container.decode(Timestamp.self, forKey: .createdAt)
        for (key, id) in [(CodingKeys.anonymousID, anonymousID), (.userID, userID ?? anonymousID)] where !Self.isID(id) {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "an ID has 1 to \(Self.longest) characters, and no zero byte")
        }
    }

    /// Of a user's ID, as in App Center's SDK, and of any other: C's texts end at a zero byte.
    package static let longest = 256

    private static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf16.count <= longest && !text.utf8.contains(0)
    }
}
