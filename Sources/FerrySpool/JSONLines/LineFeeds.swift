import CLinux
import Glibc

extension UnsafeBufferPointer<UInt8> {
    /// The index of the first line feed.
    package var firstNewline: Int? {
        guard let baseAddress, let found = memchr(baseAddress, 0x0a, count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }

    /// Cuts the bytes at their line feeds.
    ///
    /// - Parameter body: Called with each line without its line feed; with the rest, if there is any, as one that is not ended.
    @inline(__always)
    func forEachLine<Failure>(
        _ body: (_ line: UnsafeBufferPointer<UInt8>, _ isEnded: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = self
        while let end = rest.firstNewline {
            try body(UnsafeBufferPointer(rebasing: rest[..<end]), true)
            rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        }
        if !rest.isEmpty { try body(rest, false) }
    }

    /// The first line with its line feed; all bytes where there is none.
    var throughFirstNewline: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: self[..<(firstNewline.map { $0 + 1 } ?? count)])
    }

    /// The index of the last line feed.
    package var lastNewline: Int? {
        guard let baseAddress, let found = memrchr(baseAddress, 0x0a, count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }
}

extension UnsafeRawBufferPointer {
    /// The same bytes, as text.
    var asText: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bindMemory(to: UInt8.self).baseAddress, count: count)
    }
}
