import Testing

@testable import FerrySpool

@Suite("Arrays are cut into their elements")
struct JSONArrayTests {
    /// Feeds a text in pieces.
    private func elements(_ text: String, piece: Int = .max) throws -> [String] {
        var cutter = JSONArrayCutter()
        var found: [String] = []
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            let end = piece == .max ? bytes.count : min(position + piece, bytes.count)
            try Array(bytes[position..<end]).withUnsafeBufferPointer { bytes in
                try cutter.feed(bytes) { element in
                    switch element {
                    case .event(let text): found.append(String(decoding: text, as: UTF8.self))
                    case .invalid(_, let problem): found.append("\(problem)")
                    }
                }
            }
            position = end
        }
        try cutter.finish()
        return found
    }

    @Test(
        "Each element comes out in one line, wherever the input is cut",
        arguments: [
            ("", []), ("[]", []), (" [ ] ", []), ("[1]", ["1"]), ("[1,2][3]", ["1", "2", "3"]),
            ("\u{feff}[{\"a\" : [1, {\"b\": \"],{ \\\"\"}]},\n  null ]\n", ["{\"a\":[1,{\"b\":\"],{ \\\"\"}]}", "null"]),
            ("[\"a\\\\\",\"]\"]", ["\"a\\\\\"", "\"]\""]), ("[\"ä\", -1.5e3]", ["\"ä\"", "-1.5e3"]),
        ] as [(String, [String])])
    func sound(text: String, expected: [String]) throws {
        for piece in [1, 2, 3, .max] { #expect(try elements(text, piece: piece) == expected) }
    }

    @Test(
        "What is wrong with an element is told with its place, and the next one is an event",
        arguments: [
            ("[1 2,3]", ["line 1, column 4: something follows the value", "3"]),
            ("[{\"a\":\nNaN},3]", ["line 2, column 1: not a JSON value", "3"]),
            ("[,3]", ["line 1, column 2: an element is missing", "3"]),
            ("[1,]", ["1", "line 1, column 4: an element is missing"]),
            ("[{\"a\"},3]", ["line 1, column 6: ':' is missing after a key", "3"]),
        ] as [(String, [String])])
    func unsound(text: String, expected: [String]) throws {
        for piece in [1, .max] { #expect(try elements(text, piece: piece) == expected) }
    }

    @Test(
        "What is no array, or ends early, is an error",
        arguments: [
            ("{}", "line 1, column 1: no array begins here"), ("[1]\n2", "line 2, column 1: no array begins here"),
            ("[1,\n2", "line 2, column 2: the array does not end"),
        ])
    func noArray(text: String, expected: String) throws {
        let error = try #require(throws: JSONLineError.self) { try elements(text) }
        #expect(error.description == expected)
    }

    @Test("An element over 1 MiB is no event, however long it is; white space does not count")
    func long() throws {
        let spaces = String(repeating: " ", count: 1 << 20)
        #expect(try elements("[1\(spaces),2]") == ["1", "2"])
        let text = String(repeating: "x", count: 1 << 21)
        let found = try elements("[\"\(text)\",2]", piece: 1 << 16)
        #expect(found.count == 2)
        #expect(found.first?.hasSuffix("the element is longer than 1 MiB") ?? false, "\(found.first ?? "")")
    }
}
