@testable import FerryUpload

extension FuzzTarget {
    /// Folders' URLs: the first line stands behind `file://`, the second for what is put in for placeholders.
    static let folders = FuzzTarget("folders", longest: 600) { bytes in
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard let location = try? FileLocation("file://\(lines[0])") else { return }
        try expectPlain(location.base.split(separator: "/").map(String.init))
        try expect(location.base.hasPrefix("/") && location.base != "/", "a folder must be there")
        try expect(!location.base.contains("{"), "what must be there has no placeholder")
        let value = lines.count > 1 ? String(lines[1]) : ""
        if let (folders, name) = FileLocation.place(location.url.target { _ in value }) { try expectPlain(folders + [name]) }
        try expect(
            FileLocation.place(location.url.target { _ in "5-a.jsonl.gz" }) != nil, "a segment's own name is a part of a path")
        try expect(try FileLocation(location.description).base == location.base, "what the ledger shows names the folder")
    }

    /// Nothing leads out of a folder, or ends a path early.
    private static func expectPlain(_ names: [String]) throws {
        for name in names {
            try expect(!["", ".", ".."].contains(name), "a part of a path is a name")
            try expect(!name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }, "a part of a path is one")
        }
    }
}
