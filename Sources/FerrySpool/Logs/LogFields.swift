import CLinux
import Glibc

extension UnsafeBufferPointer<UInt8> {
    /// Returns the index behind the first occurrence of `text`.
    package func end(of text: StaticString) -> Int? {
        guard let baseAddress, let found = memmem(baseAddress, count, text.utf8Start, text.utf8CodeUnitCount) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress) + text.utf8CodeUnitCount
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the whole number of a field of a log's line, in the form that Ferry writes; `nil` where the line has none of that name.
    ///
    /// - Parameter start: The field's name as it is written, with its colon.
    func number(after start: StaticString) -> Int64? {
        guard let start = end(of: start) else { return nil }
        let digits = self[start...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// Returns the text of a field of a log's line, in the form that Ferry writes; `nil` where the line has none of that name.
    ///
    /// - Parameter start: The field's name as it is written, with the quote that begins its text.
    package func text(after start: StaticString) -> String? {
        guard let start = end(of: start), let end = self[start...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: self[start..<end], as: UTF8.self)
    }
}
