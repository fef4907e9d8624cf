import FerrySpool

/// What the answer of a Ferry receiver says of the segments that it took.
enum ReceiverAnswer {
    /// Returns which spool a segment was put into, or that it was put into none; `nil`: that is not known.
    ///
    /// A gateway may drop the header, and the receivers of Ferry's first version did not send it: a word of their answer tells them from others,
    /// however a gateway writes that anew. Of one that drops the text too nothing can be told from a server that answers nothing, as most collectors do.
    static func receiver(_ header: String?, _ body: [UInt8]) -> String? {
        if let header { return Spool.isID(header) ? header : nil }
        let isFerry = body.withUnsafeBufferPointer { bytes in
            var rest = bytes
            while let end = rest.end(of: "duplicate") {
                rest = UnsafeBufferPointer(rebasing: rest[end...])
                // Not `duplicates`, which others count.
                if rest.first != UInt8(ascii: "s") { return true }
            }
            return false
        }
        if isFerry { return nil }
        return LedgerEntry.noSpool
    }

    /// Returns what a receiver says of each segment of a request: `"duplicate":true`, or `false`, in their order. The answer may be cut off.
    static func duplicates(_ body: [UInt8]) -> Set<Int> {
        body.withUnsafeBufferPointer { bytes in
            var found: Set<Int> = []
            var place = 0
            var rest = bytes
            // The quotes in a name are escaped: none looks like this.
            while let end = rest.end(of: "\"duplicate\":") {
                rest = UnsafeBufferPointer(rebasing: rest[end...])
                if rest.drop(while: { $0 == UInt8(ascii: " ") }).starts(with: "true".utf8) { found.insert(place) }
                place += 1
            }
            return found
        }
    }
}
