import FerrySpool

/// A source is not any more what it was when its replay began.
struct SourceChangedError: Error, CustomStringConvertible {
    let listed: SourceStamp
    let now: SourceStamp

    var description: String {
        "it changed after the replay began: it had \(listed.size) of \(listed.modified.rfc3339), and has \(now.size) of "
            + "\(now.modified.rfc3339); what of its \(listed.size) was not staged by then is missing: replay it anew"
    }
}
