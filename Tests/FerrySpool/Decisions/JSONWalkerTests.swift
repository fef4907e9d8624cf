import TestSupport
import Testing

@testable import FerrySpool

/// What is passed over fast, held against what is passed over byte by byte.
@Suite("Walking over JSON")
struct JSONWalkerTests {
    /// The place of the quote that closes the string whose text begins at `start`.
    private func stringEnd(_ line: [UInt8], from start: Int) -> (end: Int, isEscaped: Bool)? {
        var (at, isEscaped) = (start, false)
        while at < line.count, line[at] != UInt8(ascii: "\"") {
            if line[at] == UInt8(ascii: "\\") {
                isEscaped = true
                at += 1
            }
            at += 1
        }
        return at < line.count ? (at, isEscaped) : nil
    }

    /// What is behind the object or array that begins at 0.
    private func nestedEnd(_ line: [UInt8]) -> Int? {
        var (at, depth) = (0, 0)
        while at < line.count {
            switch line[at] {
            case UInt8(ascii: "\""):
                guard let string = stringEnd(line, from: at + 1) else { return nil }
                at = string.end
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return at + 1 }
            default: break
            }
            at += 1
        }
        return nil
    }

    /// Bytes of which many mean something, a bracket and more in a row.
    private func line(_ generator: inout Seeded) -> [UInt8] {
        let telling = Array("{}[]\"\\,:a |\u{5c}\u{7c}".utf8) + [0x80, 0xdb, 0xfb, 0x1b]
        let plain = Int.random(in: 0...9, using: &generator)
        return (0..<Int.random(in: 0...90, using: &generator)).map { _ in
            Int.random(in: 0...9, using: &generator) < plain ? UInt8(ascii: "x") : telling.randomElement(using: &generator)!
        }
    }

    @Test("A string ends where it does byte by byte, whatever is in it and wherever the line ends")
    func strings() {
        var generator = Seeded(seed: 21)
        for _ in 0..<20_000 {
            let line = [UInt8(ascii: "\"")] + line(&generator)
            line.withUnsafeBufferPointer { bytes in
                var walker = JSONWalker(bytes)
                let string = walker.string()
                let expected = stringEnd(line, from: 1)
                #expect(string?.range == expected.map { 1..<$0.end })
                #expect(string?.isEscaped == expected?.isEscaped)
            }
        }
    }

    @Test("An object or array ends where it does byte by byte")
    func nested() {
        var generator = Seeded(seed: 22)
        for _ in 0..<20_000 {
            let line = [Bool.random(using: &generator) ? UInt8(ascii: "{") : UInt8(ascii: "[")] + line(&generator)
            line.withUnsafeBufferPointer { bytes in
                var walker = JSONWalker(bytes)
                #expect(walker.value()?.range == nestedEnd(line).map { 0..<$0 })
            }
        }
    }
}
