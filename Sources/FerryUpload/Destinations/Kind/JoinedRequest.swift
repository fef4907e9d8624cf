import FerrySpool

/// Several small segments in one request: their gzip members follow one another, nothing is compressed again.
enum JoinedRequest {
    /// How many of the first segments have their ways in one header line.
    static func fitting(_ trails: some Sequence<Trail>) -> Int {
        var (count, length) = (0, 0)
        for trail in trails {
            length += ViaField.text(of: trail).utf8.count + 2
            if count > 0, length > JoiningRoom.longestHeader { break }
            count += 1
        }
        return count
    }

    /// Returns the key of a joined request: the same for the same segments in every process, and never the same for others: the first and the number
    /// of IDs, which are random, and a sum over all of them.
    static func key(_ segments: [SegmentMetadata]) -> String { key(segments.map(\.id)) }

    static func key(_ ids: [String]) -> String {
        "\(ids[0])+\(ids.count - 1)-\(String(StableHash.of(ids.joined().utf8), radix: 36))"
    }

    /// Returns how many segments a request with this key carried; `nil`: the key is no joined one's.
    static func count(ofKey key: String) -> Int? {
        guard let plus = key.lastIndex(of: "+"), let dash = key[plus...].firstIndex(of: "-"),
            let others = Int(key[key.index(after: plus)..<dash]), (1..<JoiningRoom.mostSegments).contains(others)
        else { return nil }
        return others + 1
    }

    /// Returns the key of a request that carries some lines of segments.
    static func key(_ segments: [SegmentMetadata], _ slices: [RequestPart.Slice]) -> String {
        let keys = zip(segments, slices).map { segment, slice in
            segment.idempotencyKey + (slice.isWhole ? "" : ".\(slice.lines.lowerBound + 1)-\(slice.lines.upperBound)")
        }
        return keys.count == 1 ? keys[0] : key(keys)
    }
}
