/// Names a destination in files and for people.
public enum DestinationID {
    /// The part of a destination file's name: readable, the same in every process, and different for different destinations.
    public static func id(of description: String) -> String {
        // FNV-1a: it must be stable and spread well; it is no target of attacks.
        let hash = description.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let host = description.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? "destination"
        let readable = host.prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
        return String(readable) + "-" + String(hash, radix: 36)
    }
}
