import FerrySpool

/// Which segments a hub has given, or is about to give, into other hands by bundles of its own.
///
/// Two spools that take each other's bundles could vouch for each other: then both would end the segment, and it would be nowhere.
struct HandedOn {
    /// Why a segment is not vouched for.
    enum Claim: CustomStringConvertible {
        /// It travels in the hub's own bundle of this ID.
        case travels(bundle: String)
        /// It went to the spool that brings it back.
        case wentThere
        /// It was in this spool, and came back round others.
        case wentOn
        /// Another process is sending it, or it is unknown whether one is.
        case leaving

        var description: String {
            switch self {
            case .travels(let bundle):
                "it travels in this spool's own bundle \(bundle): acknowledge that one's receipt, or forget that bundle, and import again"
            case .wentThere:
                "this spool handed it over to the one that brings it back: send it on from there to another spool than this one, or it goes in a circle"
            case .leaving: ImportReport.isLeaving
            case .wentOn:
                "it was in this spool before, and was handed on from here: send it on from there to another spool than this one, or it goes in a circle"
            }
        }
    }

    private let hub: Spool
    /// By the IDs of the pending segments that travel, and of those that they may be halves of. Read when it is first asked for.
    private var travelling: [String: String]?
    /// By the spool that has them, what it was given.
    private var given: [String: Given] = [:]

    /// The IDs of segments, and with those of the segments that they may be halves of.
    private struct Given {
        let ids: Set<String>
        let families: Set<String>
    }

    init(from hub: Spool) { self.hub = hub }

    /// Returns what keeps the hub from vouching for a segment to the spool that brings it.
    ///
    /// - Parameters:
    ///   - name: The segment's name in the hub's spool.
    ///   - spool: The spool that brings it.
    mutating func claim(on name: String, against spool: String) throws(FileError) -> Claim? {
        guard let id = SegmentName(name)?.id else { return nil }
        if travelling == nil { travelling = try readTravelling() }
        for id in Self.family(of: id) {
            if let bundle = travelling?[id] { return .travels(bundle: bundle) }
        }
        // Itself, a half of it, or what it is a half of.
        let given = try given(to: spool)
        guard given.families.contains(id) || Self.family(of: id).contains(where: given.ids.contains),
            try !hub.directory.contains(name)
        else { return nil }
        return .wentThere
    }

    private mutating func given(to spool: String) throws(FileError) -> Given {
        if let known = given[spool] { return known }
        let ids = Set(try hub.ledger.segmentsReceived(by: spool).compactMap { SegmentName($0)?.id })
        let found = Given(ids: ids, families: Set(ids.flatMap(Self.family)))
        given[spool] = found
        return found
    }

    private func readTravelling() throws(FileError) -> [String: String] {
        var bundles: [String: String] = [:]
        let marks = try hub.exports.marks()
        guard !marks.isEmpty else { return bundles }
        let listing = try hub.scan()
        let travelling = try hub.exports.travelling(in: listing)
        for name in listing.entries.lazy.map(listing.name) {
            guard let id = SegmentName(name)?.id, let entry = hub.exports.entry(of: name, in: travelling) else { continue }
            for id in Self.family(of: id) { bundles[id] = entry.bundle }
        }
        return bundles
    }

    /// Returns an ID, and those of the segments that it may be a half of.
    private static func family(of id: String) -> [String] { [id] + SegmentID.ancestors(of: id).map(\.text) }
}
