import ArgumentParser
import FerrySpool
import FerryUpload

/// What becomes of delivered segments.
struct SentOptions: ParsableArguments {
    @Option(
        defaultAsFlag: SentKeeping.forever,
        help: ArgumentHelp(
            "Keep delivered segments in sent/ for this long: 30d, or forever.",
            discussion: "Default: 7d, and less where the disk is full.", valueName: "duration"))
    var keepSent: SentKeeping?

    @Flag(help: "Delete delivered segments at once.")
    var deleteSent = false

    func validate() throws {
        if keepSent != nil, deleteSent { throw ValidationError("--keep-sent and --delete-sent exclude each other") }
    }

    func apply(to options: inout UploadOptions) {
        options.keepsSent = !deleteSent
        // What earlier calls kept is not this one's to delete.
        guard !deleteSent else { return }
        options.sentRetention.maxAge = (keepSent ?? .standard).age
        options.sentGivesWay = keepSent == nil
    }
}

/// How long delivered segments are kept.
enum SentKeeping: Equatable, Sendable {
    case forever
    case atMost(Duration)

    static let standard = SentKeeping.atMost(UploadOptions.standardSentAge)

    var age: Duration? {
        switch self {
        case .forever: nil
        case .atMost(let age): age
        }
    }
}

extension SentKeeping: ExpressibleByArgument, CustomStringConvertible {
    init?(argument: String) {
        if argument == "forever" {
            self = .forever
        } else if let age = Duration(parsing: argument), age > .zero {
            self = .atMost(age)
        } else {
            return nil
        }
    }

    var description: String { age?.forPeople ?? "forever" }
}
