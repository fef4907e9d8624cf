import FerrySpool
import FoundationEssentials

extension Encodable {
    /// Returns one line of JSON with sorted keys.
    func jsonLine() throws -> String {
        String(decoding: try JSONLine.makeEncoder().encode(self), as: UTF8.self)
    }
}
