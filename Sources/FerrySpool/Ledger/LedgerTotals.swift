/// How many segments had which ending, and how many bytes they were.
public struct LedgerTotals: Equatable, Sendable {
    /// A number of segments, and their size.
    public struct Count: Equatable, Sendable {
        /// How many segments there were.
        public var segments: Int64 = 0
        /// How many bytes they had together.
        public var bytes = ByteCount.zero

        /// Creates a count of none.
        public init() {}
    }

    /// The counts by outcome; an outcome that never happened is absent.
    public private(set) var counts: [LedgerEntry.Outcome: Count] = [:]

    /// Returns the count of an outcome, which may be of none.
    public subscript(outcome: LedgerEntry.Outcome) -> Count { counts[outcome] ?? Count() }

    /// Adds a line of the ledger. What is no such line is passed over: a torn line was repeated whole.
    ///
    /// It looks only for the two fields that it needs, in the form that ``LedgerEntry`` writes: a ledger of a year is long.
    mutating func add(_ line: UnsafeBufferPointer<UInt8>) {
        guard let outcomeStart = line.end(of: "\"outcome\":\""), let bytesStart = line.end(of: "\"bytes\":"),
            let outcomeEnd = line[outcomeStart...].firstIndex(of: UInt8(ascii: "\"")),
            let outcome = LedgerEntry.Outcome(rawValue: String(decoding: line[outcomeStart..<outcomeEnd], as: UTF8.self))
        else { return }
        var bytes: Int64 = 0
        for byte in line[bytesStart...].prefix(18) {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            bytes = bytes * 10 + Int64(digit)
        }
        counts[outcome, default: Count()].segments += 1
        counts[outcome, default: Count()].bytes += ByteCount(bytes)
    }
}

extension Ledger {
    /// Adds up the whole ledger.
    public func totals() throws(FileError) -> LedgerTotals {
        var failure: FileError?
        let totals = totals { failure = failure ?? $0 }
        if let failure { throw failure }
        return totals
    }

    /// Adds up what of the ledger can be read.
    ///
    /// - Parameter note: Called with each file that cannot.
    public func totals(note: (FileError) -> Void) -> LedgerTotals {
        var totals = LedgerTotals()
        do throws(FileError) {
            for name in try names() {
                do throws(FileError) { try spool.stateDirectory?.open(name)?.forEachLine { totals.add($0) } } catch {
                    note(error)
                }
            }
        } catch {
            note(error)
        }
        return totals
    }
}

extension LedgerTotals.Count {
    mutating func add(_ size: ByteCount?) {
        guard let size else { return }
        segments += 1
        bytes += size
    }

    /// Adds another count.
    public mutating func add(_ other: LedgerTotals.Count) {
        segments += other.segments
        bytes += other.bytes
    }
}
