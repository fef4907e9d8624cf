@testable import FerryUpload

extension FuzzTarget {
    /// What collectors answer of events that they took.
    static let collectorAnswers = FuzzTarget("collector-answers", longest: 600) { bytes in
        if let partial = OTLPAnswer(bytes) {
            try expect(partial.rejected >= 0, "no less than none is dropped")
            let remark = partial.remark(ofRecords: 9)
            // A tab stays a tab.
            try expect(
                remark.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f || $0 == "\t" }, "a remark is one line")
        }
        let plain = Verdict(status: 200, retryAfter: nil, location: nil, body: "")
        if case .delivered = SplunkAnswer(bytes).verdict(plain) {
            try expect(SplunkAnswer(bytes).code != nil, "an answer without a code proves nothing")
        }
        let bulk = BulkAnswer(bytes)
        switch bulk.action(status: 200, events: 3) {
        case .refused(let items):
            try expect(items.keys.allSatisfy { (0..<3).contains($0) }, "only what was sent is refused")
            try expect(items.values.allSatisfy { (400..<500).contains($0.status) }, "what is refused has a client's error")
        case .known: try expect(bulk.items.count == 3, "what is known was asked for")
        case .verdict(.delivered):
            try expect(bulk.hasErrors == false || bulk.items.count == 3, "no item is left in doubt")
        case .verdict: break
        }
    }
}
