import CLinux
import Glibc

extension UnsafeBufferPointer<UInt8> {
    /// The index of the first line feed.
    public var firstNewline: Int? {
        guard let baseAddress, let found = memchr(baseAddress, 0x0a, count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }

    /// The index of the last line feed.
    public var lastNewline: Int? {
        guard let baseAddress, let found = memrchr(baseAddress, 0x0a, count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }
}
