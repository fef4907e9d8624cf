import FerrySpool
import NIOHTTP1

@testable import FerryUpload

extension FuzzTarget {
    /// Tables' URLs, and credentials: the first line stands behind `clickhouse://`, the rest is a credentials file.
    static let tables = FuzzTarget("tables", longest: 600) { bytes in
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        if let location = try? ClickHouseLocation("clickhouse://\(parts[0])") {
            try expect(!location.url.namesSegment, "several segments may go out together")
            let target = location.target(token: "a b\r\n{id}%\u{e9}", without: [])
            try expect(target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a target is visible ASCII")
            try expect(target.hasPrefix("/?query=INSERT") && !target.contains("&query="), "there is one statement")
            try expect(location.description.hasPrefix("clickhouse://"), "a table can be told")
        }
        let file = parts.count > 1 ? String(parts[1]) : ""
        guard let credentials = try? ClickHouseCredentials(file, of: "file") else { return }
        try expect(credentials.canBeSent && !credentials.isEmpty, "a user can stand in a field")
    }

    /// What a ClickHouse server answers: three digits for the status, a line for its code field, then the body.
    static let tableAnswers = FuzzTarget("table-answers", longest: 600) { bytes in
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard let status = Int(parts[0]), (200...999).contains(status) else { return }
        var headers = HTTPHeaders([("X-ClickHouse-Query-Id", "1")])
        if parts.count > 1, !parts[1].isEmpty { headers.add(name: "X-ClickHouse-Exception-Code", value: String(parts[1])) }
        let body = parts.count > 2 ? Array(parts[2].utf8) : []
        let answer = Answer(status: status, headers: headers, body: body, isToWholeRequest: true)
        let read = ClickHouseAnswer(answer, at: Timestamp(milliseconds: 1_793_000_000_000))
        for said in [[], Set(ClickHouseLocation.OwnSetting.allCases)] {
            switch read.action(said: said) {
            case .leaveOut(let setting): try expect(said.contains(setting), "what was not said is not left out")
            case .verdict(.delivered, let mayHaveArrived):
                try expect((200..<300).contains(status) && !mayHaveArrived, "only 2xx is a delivery")
                try expect(body.allSatisfy { $0 <= 0x20 || $0 >= 0x80 }, "who inserts says nothing")
            case .verdict: break
            }
        }
    }
}
