import ArgumentParser
import FerrySpool
import FerryUpload

/// What becomes of delivered segments.
struct SentOptions: ParsableArguments {
    @Option(
        defaultAsFlag: "forever",
        help: ArgumentHelp(
            "Keep delivered segments in sent/ for this long: 30d, or forever.",
            discussion: "Default: 7d, and less where the disk is full.", valueName: "duration"))
    var keepSent: String?

    @Flag(help: "Delete delivered segments at once.")
    var deleteSent = false

    func validate() throws {
        // The parser takes a value that its type refuses for none, which means for ever.
        if let keepSent, SentKeeping(parsing: keepSent) == nil {
            throw ValidationError("--keep-sent '\(keepSent.printable(limit: 100))' must be a duration like 30d, or forever")
        }
        if keepSent != nil, deleteSent { throw ValidationError("--keep-sent and --delete-sent exclude each other") }
    }

    func apply(to settings: inout UploadSettings) {
        settings.keepsSent = !deleteSent
        // What earlier calls kept is not this one's to delete.
        guard !deleteSent else { return }
        settings.sentRetention.maxAge = (keepSent.flatMap { SentKeeping(parsing: $0) } ?? .standard).age
        settings.sentGivesWay = keepSent == nil
    }
}

/// How long delivered segments are kept.
private enum SentKeeping {
    case forever
    case atMost(Duration)

    static let standard = SentKeeping.atMost(UploadOptions.standardSentAge)

    var age: Duration? {
        switch self {
        case .forever: nil
        case .atMost(let age): age
        }
    }

    init?(parsing text: String) {
        if text == "forever" {
            self = .forever
        } else if let age = Duration(parsing: text), age > .zero {
            self = .atMost(age)
        } else {
            return nil
        }
    }
}
