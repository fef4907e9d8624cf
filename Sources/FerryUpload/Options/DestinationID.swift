import FerrySpool

/// Names a destination in files and for people.
package enum DestinationID {
    /// Returns the part of a destination file's name: readable, the same in every process, and different for different destinations.
    package static func id(of description: String) -> String {
        let host = description.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? "destination"
        let readable = host.prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
        return String(readable) + "-" + String(StableHash.of(description.utf8), radix: 36)
    }
}
