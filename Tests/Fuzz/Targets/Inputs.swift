@testable import FerrySpool

extension FuzzTarget {
    /// Arrays, as files and pipes bring them.
    static let jsonArrays = FuzzTarget("json-arrays", longest: 2048) { bytes in
        let whole = elements(bytes, pieces: bytes.count)
        try expect(elements(bytes, pieces: 1) == whole, "elements are the same byte by byte")
        for case .success(let event) in whole {
            var checker = JSONLineChecker()
            let verdict = event.withUnsafeBufferPointer { checker.check($0) }
            try expect(verdict == .event, "an element that is an event is one line of JSON")
        }
    }

    /// Cuts arrays in pieces; the last element is what they end with.
    private static func elements(_ bytes: [UInt8], pieces: Int) -> [Result<[UInt8], JSONLineError>] {
        var cutter = JSONArrayCutter()
        var found: [Result<[UInt8], JSONLineError>] = []
        do {
            var rest = bytes[...]
            while !rest.isEmpty {
                try Array(rest.prefix(pieces)).withUnsafeBufferPointer { piece in
                    try cutter.feed(piece) { element in
                        switch element {
                        case .event(let text): found.append(.success(Array(text)))
                        case .invalid(_, let problem): found.append(.failure(problem))
                        }
                    }
                }
                rest = rest.dropFirst(pieces)
            }
            try cutter.finish()
        } catch let problem as JSONLineError {
            found.append(.failure(problem))
        } catch {}
        return found
    }

    /// How far a log is followed.
    static let followedPlaces = FuzzTarget("followed-places") { bytes in
        guard let place = FollowedPlace(text: bytes) else { return }
        try expect(place.start >= 0 && place.start <= place.file.offset, "a journal begins before the place that it reaches")
        try expect(FollowedPlace(text: place.text(path: "/log")) == place, "a place is read as it is written")
        for journal in [nil, 0, place.length, .max] {
            let (offset, stored) = place.resuming(journal: journal)
            try expect(offset >= 0 && stored >= 0, "it goes on somewhere in the file")
        }
        let files = [place.file] + place.known
        let sights = files.map { file in
            FileSight(inode: file.inode, size: file.offset, head: file.head, windows: file.tail.map { [file.offset: $0] } ?? [:])
        }
        let match = FollowMatch(files, log: sights[0], isSameLog: true, rotated: sights.dropFirst().map { .sight($0) })
        try expect(match.rotated.count == place.known.count, "each file is something")
    }

    /// The names beside a log.
    static let rotatedNames = FuzzTarget("rotated-names") { bytes in
        let names = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard let base = names.first else { return }
        let rotated = RotatedNames(of: base).rotated(among: names)
        try expect(!rotated.contains { $0.text == base }, "a log is no file that it was rotated to")
        try expect(zip(rotated, rotated.dropFirst()).allSatisfy { $0.age <= $1.age }, "the oldest is the first")
    }
}
