@testable import FerryUpload

extension FuzzTarget {
    /// What collectors answer of events that they took.
    static let collectorAnswers = FuzzTarget("collector-answers", longest: 600) { bytes in
        if let partial = OTLPAnswer(bytes) {
            try expect(partial.rejected >= 0, "no less than none is dropped")
            let remark = partial.remark(ofRecords: 9)
            try expect(remark.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }, "a remark is one line")
        }
    }
}
