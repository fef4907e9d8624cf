/// What keeps a name that looks like one of the format from being one.
///
/// Such a file is sent as one of another tool's: with priority 5, in the order of its modification, under another key. Its maker hardly meant that.
package enum NameFlaw: Equatable, Sendable, CustomStringConvertible {
    /// RFC 3339's form instead of `YYYYMMDDTHHMMSS.mmmZ`.
    case timeForm
    /// Another number of digits than three behind the second's point.
    case fraction(digits: Int)
    case notUTC
    case noSuchTime
    case capitals
    case idLength(Int)
    case idCharacter
    case stream
    /// `.ndjson.gz` or `.json.gz` instead of `.jsonl.gz`.
    case ending

    /// What the name would have to be, for people.
    package var description: String {
        switch self {
        case .timeForm: "its time must be written like 20261121T031502.123Z"
        case .fraction(let digits): "its time must have 3 digits behind the point, not \(digits)"
        case .notUTC: "its time must be UTC and end in Z"
        case .noSuchTime: "its time does not exist"
        case .capitals: "it must have no capitals but T and Z"
        case .idLength(let length): "its ID must have 16 to 40 characters, not \(length)"
        case .idCharacter: "its ID must consist of 0-9 and a-z"
        case .stream: "its stream must be 1 to 64 characters of a-z, 0-9, _ and -"
        case .ending: "it must end in .jsonl.gz"
        }
    }

    /// Finds the flaw of a name; `nil` for a name of the format, and for one that does not look like it.
    package init?(_ name: String) {
        guard let ending = ForeignName.endings.first(where: name.hasSuffix) else { return nil }
        var reader = Reader(rest: Array(name.utf8.dropLast(ending.utf8.count))[...])
        guard reader.digits(1).count == 1, reader.take("-") else { return nil }
        guard let flaw = Self.flaw(&reader) else { return nil }
        switch flaw {
        case .some(let flaw): self = flaw
        case nil where ending != ".jsonl.gz": self = .ending
        case nil: return nil
        }
    }

    /// Reads a name up to its flaw.
    ///
    /// - Returns: `nil` when it does not look like a name of the format; a flaw that is `nil` when what was read has none.
    private static func flaw(_ reader: inout Reader) -> NameFlaw?? {
        var date = reader.digits(8)
        if date.count == 4, reader.take("-") {
            guard reader.digits(2).count == 2, reader.take("-"), reader.digits(2).count == 2, reader.take("T") || reader.take("t")
            else { return nil }
            return .some(.timeForm)
        }
        guard date.count == 8 else { return nil }
        let hasSmallT = reader.take("t")
        guard hasSmallT || reader.take("T") else { return nil }
        let clock = reader.digits(6)
        guard clock.count == 6 else { return nil }
        let fraction = reader.take(".") ? reader.digits(.max).count : 0
        guard fraction == 3 else { return .some(.fraction(digits: fraction)) }
        let hasSmallZ = reader.take("z")
        guard hasSmallZ || reader.take("Z") else { return .some(.notUTC) }
        date += Array("T".utf8) + clock + Array(".000Z".utf8)
        guard date.withUnsafeBufferPointer({ Timestamp(compact: $0) }) != nil else { return .some(.noSuchTime) }
        if hasSmallT || hasSmallZ { return .some(.timeForm) }
        let parts =
            reader.take("-")
            ? reader.rest.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false) : []
        let id = parts.first ?? []
        if reader.rest.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) { return .some(.capitals) }
        if !SegmentID.lengths.contains(id.count) { return .some(.idLength(id.count)) }
        if !id.allSatisfy(\.isLowercaseOrDigit) { return .some(.idCharacter) }
        if parts.count > 1, !StreamLabel.lengths.contains(parts[1].count) || !parts[1].allSatisfy(\.isStreamByte) {
            return .some(.stream)
        }
        return .some(nil)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        /// Reads up to `most` digits.
        mutating func digits(_ most: Int) -> [UInt8] {
            let found = rest.prefix(most).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(found.count)
            return Array(found)
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }
    }
}
