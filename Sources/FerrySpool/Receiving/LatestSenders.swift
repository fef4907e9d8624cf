/// A spool that segments came from, as the log of received keys tells.
package struct SpoolSender: Equatable, Sendable {
    /// The spool's ID; `nil`: a client that is no Ferry, or a way that was not noted.
    package let id: String?
    /// How many segments came.
    package private(set) var segments: Int64 = 0
    /// The bytes of these.
    package private(set) var bytes = ByteCount.zero
    /// When they came, in the order of the log; of many the last.
    package private(set) var times: [Timestamp] = []
    /// Whether the last came in a bundle.
    package private(set) var cameInBundle = false

    /// Creates a sender that nothing has come from.
    package init(_ id: String?) { self.id = id }

    /// When a segment came last.
    package var last: Timestamp? { times.last }

    private static let mostTimes = 100

    /// Counts a segment that came.
    package mutating func add(_ size: ByteCount, at time: Timestamp, inBundle: Bool) {
        segments = segments.adding(1)
        bytes += size
        cameInBundle = inBundle
        times.append(time)
        if times.count >= 2 * Self.mostTimes { times.removeFirst(times.count - Self.mostTimes) }
    }
}

/// Which spools gave segments to this one lately: the last that the log of received keys tells.
package struct LatestSenders: Sendable {
    /// Those of which segments came, the latest first.
    package private(set) var all: [SpoolSender] = []
    /// The time of the first line that was read.
    package private(set) var since: Timestamp?
    /// Earlier lines were not read.
    package fileprivate(set) var isPart = false
    /// How many segments came from spools that were too many to tell apart.
    package private(set) var others: Int64 = 0

    private var places: [String?: Int] = [:]

    /// A client can name any number of spools.
    private static let most = 1000

    /// Creates a list that has read nothing.
    init() {}

    /// Counts what a line of the log tells.
    mutating func add(_ line: UnsafeBufferPointer<UInt8>) {
        // A line without a file is of a segment that was here already.
        guard line.end(of: "\"file\":\"") != nil, let time = line.text(after: "\"at\":\"").flatMap({ Timestamp(rfc3339: $0) })
        else { return }
        if since == nil { since = time }
        let sender = line.text(after: "\"trail\":\"").flatMap { Trail($0) }?.spools.last
        if places[sender] == nil {
            guard all.count < Self.most else {
                others = others.adding(1)
                return
            }
            places[sender] = all.count
            all.append(SpoolSender(sender))
        }
        guard let place = places[sender] else { return }
        all[place].add(
            ByteCount(line.number(after: "\"bytes\":") ?? 0), at: time, inBundle: line.end(of: "\"bundle\":\"") != nil)
    }

    /// Puts those first that sent last.
    fileprivate mutating func sort() {
        all.sort { ($0.last ?? .distantPast, $1.id ?? "") > ($1.last ?? .distantPast, $0.id ?? "") }
        places = [:]
    }
}

extension ReceivedLog {
    /// Returns when a line was last added; `nil` when there is none, or where that cannot be read.
    package var changed: Timestamp? {
        guard let name = (try? names())?.max() else { return nil }
        return ((try? spool.stateDirectory?.status(name)) ?? nil)?.modified
    }

    /// How much of the end of the logs is read: some thousand lines.
    private static let latestPart: Int64 = 1 << 20

    /// Returns which spools gave segments to this one lately.
    package func latestSenders() throws(FileError) -> LatestSenders {
        var senders = LatestSenders()
        var parts: [(file: OpenFile, start: Int64)] = []
        var left = Self.latestPart
        for name in try names().sorted().reversed() {
            guard let file = try spool.stateDirectory?.open(name), let status = try? file.status(), status.isRegular else {
                continue
            }
            guard left > 0 else {
                senders.isPart = true
                break
            }
            let start = max(0, status.size.bytes - left)
            senders.isPart = senders.isPart || start > 0
            left -= status.size.bytes - start
            parts.append((file, start))
        }
        for (file, start) in parts.reversed() {
            // The first may be a part of a line.
            var isPart = start > 0
            try file.forEachLine(from: start) { line in
                if !isPart { senders.add(line) }
                isPart = false
            }
        }
        senders.sort()
        return senders
    }
}
