import FerrySpool
import FoundationEssentials

extension RejectionReason {
    /// The reason for people. What a receiver of Ferry's answered stands in its own words, without their JSON.
    var summary: String {
        struct Answer: Decodable { let error: String }
        guard let start = message.firstIndex(of: "{"), message.hasSuffix("}"), message.utf8.count < 10_000,
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(message[start...].utf8))
        else { return message }
        return message[..<start] + answer.error
    }
}
