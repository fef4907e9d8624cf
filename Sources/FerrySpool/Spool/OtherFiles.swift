/// Files in a spool folder that are no segments, such as `events.json` or `batch.jsonl`: they are never sent, and a person should know.
public struct OtherFiles: Codable, Equatable, Sendable {
    /// How many there are.
    public private(set) var count = 0
    /// The names of the first of them, in the order of their bytes.
    public private(set) var names: [String] = []

    /// Enough to see what they are.
    private static let mostNames = 20
    /// What a folder may hold for people.
    private static let readme = "README.md"

    public init() {}

    /// - Parameter isFile: Whether it is a regular file, asked only if that matters.
    mutating func note(_ name: UnsafeBufferPointer<UInt8>, isFile: () -> Bool) {
        let text = String(decoding: name, as: UTF8.self)
        guard !text.hasPrefix("."), text != Self.readme, isFile() else { return }
        count += 1
        let index = names.firstIndex { text.utf8.lexicographicallyPrecedes($0.utf8) } ?? names.count
        guard index < Self.mostNames else { return }
        names.insert(text, at: index)
        if names.count > Self.mostNames { names.removeLast() }
    }
}

extension OtherFiles: CustomStringConvertible {
    /// For people: how many, and the first names.
    public var description: String {
        let shown = names.prefix(3).joined(separator: ", ")
        let list = count > 3 ? "\(shown) and \(count - 3) more" : shown
        return count == 1 ? "1 file that is no segment: \(list)" : "\(count) files that are no segments: \(list)"
    }
}
