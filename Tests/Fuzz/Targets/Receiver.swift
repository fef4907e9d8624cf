import HTTPTypes

@testable import FerryReceiver
@testable import FerrySpool

extension FuzzTarget {
    /// The headers of requests to a receiver: lines of `Name: value`.
    static let receiverHeaders = FuzzTarget("receiver-headers", longest: 1024) { bytes in
        var headers = HTTPFields()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let name = HTTPField.Name(parts[0]) else { continue }
            headers.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
        }
        _ = BearerToken.matches(headers[.authorization], "secret")
        let now = Timestamp(milliseconds: 1_793_000_000_000)
        guard let parts = try? JoinedSegments.parts(headers, now: now) else { return }
        try expect(!parts.isEmpty, "a request carries a segment")
        for part in parts {
            try expect(ForeignName.isLegal(part.identity.name.fileName), "a segment gets a name that a file can have")
            try expect(SegmentName(part.identity.name.fileName) == part.identity.name, "a segment gets a name of the format")
            let keyLength = part.identity.key?.utf8.count ?? 1
            try expect(ForeignName.keyLengths.contains(keyLength), "a key has its length")
            if let dated = part.dated(at: now) { try expect(dated > part.identity.name.created, "what is known better is later") }
            try expect(part.bytes.map { $0 > .zero } ?? (parts.count == 1), "each of several segments has a size")
        }
        try expect(Set(parts.map(\.identity.name)).count == parts.count, "no name comes twice")
        try expectReadAgain(parts, now: now)
    }

    /// What a receiver has read is the same after an uploader wrote it anew.
    private static func expectReadAgain(_ parts: [JoinedSegments.Part], now: Timestamp) throws {
        var headers = HTTPFields()
        let list = parts.compactMap { part in part.bytes.map { (name: part.identity.name.fileName, bytes: $0) } }
        // A list of one segment is none.
        headers[.ferrySegment] = list.count > 1 ? SegmentListField.text(list) : parts[0].identity.name.fileName
        headers[.ferryCreatedClock] = ClockReadingsField.text(parts.map(\.clock))
        headers[.ferryHops] = HopsField.text(parts.map(\.trail))
        headers[.ferryVia] = ViaField.text(parts.map(\.trail))
        let again = try? JoinedSegments.parts(headers, now: now)
        try expect(again?.map(\.identity.name) == parts.map(\.identity.name), "segments are read as they are written")
        try expect(again?.map(\.clock) == parts.map(\.clock), "clocks are read as they are written")
        try expect(again?.map(\.trail) == parts.map(\.trail), "ways are read as they are written")
    }
}

extension FuzzTarget {
    /// The list of a hub's machines.
    static let machineLists = FuzzTarget("machine-lists", longest: 2048) { bytes in
        let list = MachineList(bytes, path: "hub")
        let lines = bytes.split(separator: UInt8(ascii: "\n")).count
        try expect(list.machines.count + list.problems.count <= lines, "a line is a machine, a problem, or blank")
        for machine in list.machines {
            try expect(
                !machine.name.text.hasPrefix(".") && !machine.name.text.contains("/"), "a name is that of a folder in the hub")
        }
        try expect(Set(list.machines.map(\.name)).count == list.machines.count, "no name comes twice")
        let again = MachineList(list.bytes, path: "hub")
        try expect(again.problems.isEmpty && again.machines == list.machines, "what is written is read again")
    }
}
