/// `Ferry-Age`: the seconds since each of a request's segments was opened.
package enum AgesField {
    package static let header = FerryHeader.age

    package static func text(_ ages: [Duration]) -> String {
        ages.map { "\($0.components.seconds)" }.joined(separator: ", ")
    }

    /// Returns the ages of as many segments as a request has; `nil` for one without an age that can be.
    package static func ages(_ text: String?, count: Int) -> [Duration?] {
        let items = text?.split(separator: ",") ?? []
        return (0..<count).map { index in
            guard items.indices.contains(index), let age = Int64(items[index].filter { $0 != " " }), possible.contains(age) else {
                return nil
            }
            return .seconds(age)
        }
    }

    /// Up to a hundred years.
    private static let possible: ClosedRange<Int64> = 0...3_155_760_000
}
