import Glibc

/// One event that the kernel reports about a folder, inotify(7).
package struct InotifyEvent: Equatable, Sendable {
    /// Which watch it is about; -1 when the kernel dropped events.
    package var watch: Int32
    /// What happened, as the bits of inotify(7).
    package var mask: UInt32
    /// The name in the folder that it is about.
    package var name: String

    /// Creates an event.
    package init(watch: Int32, mask: UInt32, name: String) {
        self.watch = watch
        self.mask = mask
        self.name = name
    }

    /// Takes the kernel's records apart.
    package static func parse(_ bytes: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var position = 0
        while position + 16 <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self))
            guard position + 16 + length <= bytes.count else { break }
            let name = bytes[position + 16..<position + 16 + length].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self),
                    mask: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self),
                    name: String(decoding: name, as: UTF8.self)))
            position += 16 + length
        }
        return events
    }
}
