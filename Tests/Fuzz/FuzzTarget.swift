/// A door of Ferry's, and what must hold whatever bytes come through it.
struct FuzzTarget: Sendable {
    /// As its corpus and its dictionary are named.
    let name: String
    /// Longer inputs lead to nothing new, in bytes.
    let longest: Int
    /// Takes one input. What traps is a finding, as is what it throws.
    let run: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, longest: Int = 1024, run: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.longest = longest
        self.run = run
    }

    /// All targets.
    static let all = [
        segmentNames, gzip, gzipText, jsonLines, jsonArrays, soundLines, timestamps, quantities, sidecars,
        controlFiles, clockFiles,
        exportMarks, requestNotes, ledger, keyLog,
        keyRuns, manifests,
        receipts, tar, keyFiles, sealedSegments, tzif, zoneRules, configuration, settings, conditions, replayLists, urls, proxies,
        tunnelAnswers, retryAfter, answers, receiverHeaders, machineLists, netlink, inotify, heldLocks, appCenter, jsonArray,
        measurement,
        trackerProperties, crashReports, buckets, storeAnswers, tables,
        tableAnswers, folders, storeLists, keyAnswers, otlp, collectorAnswers, elastic, loki, splunk,
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// What should hold for every input, and does not for one.
struct BrokenProperty: Error, CustomStringConvertible {
    let description: String
}

/// Throws ``BrokenProperty`` unless a property holds.
func expect(_ holds: Bool, _ property: @autoclosure () -> String) throws(BrokenProperty) {
    guard holds else { throw BrokenProperty(description: property()) }
}
