import FerrySpool

/// What `ferry write --json` says at its end, however it ends.
struct WriteReport: Encodable {
    /// `nil` where not all that were read are stored.
    let events: Int64?
    let invalid: Int64
    /// `nil` where something is not published, or something went wrong.
    let segments: [String]?
    let input: String
    let storedLines: Int64
    let nextLine: Int64
    let published: Bool

    init(_ stored: StoredInput, segments: [SegmentName]? = nil, isPublished: Bool, isComplete: Bool = true) {
        events = isComplete ? stored.events : nil
        invalid = stored.invalid
        self.segments = segments.map { $0.map(\.fileName) }
        input = stored.path
        storedLines = stored.nextLine - stored.firstLine
        nextLine = stored.nextLine
        published = isPublished
    }

    func print() throws {
        try StandardOutput.print(jsonLine())
        try StandardOutput.flush()
    }
}
