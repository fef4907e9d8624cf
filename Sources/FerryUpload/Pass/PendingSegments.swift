public import FerrySpool

/// A pending segment and what it waits for.
public struct PendingSegment: Sendable {
    public enum State: Equatable, Sendable {
        case due
        /// Its own back-off, or its destination's, is not over.
        case waits(until: Timestamp)
        /// It may be still being written.
        case settles(until: Timestamp)
        /// It travels by hand, in the bundle of this ID, and waits for its receipt.
        case exported(bundle: String)
    }

    public let name: String
    public let priority: Priority
    public let created: Timestamp
    public let size: ByteCount
    public let state: State
    /// `nil` when it was never tried.
    public let retry: RetryState?
    /// Why its file cannot be examined.
    public let failure: FileError?
}

/// The pending segments of a spool in upload order, looked at one by one: a spool may hold a million.
public struct PendingSegments: Sequence, IteratorProtocol {
    private let spool: Spool
    private let now: Timestamp
    private let listing: SpoolListing
    /// The bundles that segments travel in.
    private let bundles: [String: String]
    private var index = 0

    public init(_ spool: Spool, now: Timestamp) throws(FileError) {
        self.spool = spool
        self.now = now
        listing = try spool.scan()
        var bundles: [String: String] = [:]
        for mark in try spool.exportMarks() { for segment in mark.segments { bundles[segment.name] = mark.bundle } }
        self.bundles = bundles
    }

    public var count: Int { listing.entries.count }

    public mutating func next() -> PendingSegment? {
        while index < listing.entries.count {
            let entry = listing.entries[index]
            index += 1
            let name = listing.name(of: entry)
            var failure: FileError?
            var status: FileStatus?
            do throws(FileError) {
                // Gone since the scan, or no regular file.
                guard let found = try spool.directory.status(name), found.isRegular else { continue }
                status = found
            } catch {
                failure = error
            }
            let retry = entry.hasSidecar ? (try? spool.sidecar(of: name)) ?? nil : nil
            var state = PendingSegment.State.due
            if let bundle = bundles[name] {
                state = .exported(bundle: bundle)
            } else if let status, let until = (try? spool.settles(name, status, now: now)) ?? nil {
                state = .settles(until: until)
            } else if let until = retry?.wait(at: now, longestWait: BackOff.standard.longestWait) {
                state = .waits(until: until)
            }
            return PendingSegment(
                name: name, priority: entry.priority, created: entry.created, size: status?.size ?? .zero, state: state,
                retry: retry,
                failure: failure)
        }
        return nil
    }
}
