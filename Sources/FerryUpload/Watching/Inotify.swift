import FerrySpool
import Glibc

/// The kernel's news about folders (inotify(7)), for all folders of a process.
final class Inotify: Sendable {
    /// One piece of news.
    struct Event: Equatable, Sendable {
        /// Which watch it is about; -1 when the kernel dropped news.
        var watch: Int32
        var mask: UInt32
        var name: String
    }

    private let reader: DescriptorReader

    /// - Parameter onEvents: Called on a queue of its own.
    init(onEvents: @escaping @Sendable ([Event]) -> Void) throws(FileError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw FileError("watch", "folders") }
        reader = DescriptorReader(descriptor, label: "ferry.inotify") { onEvents(Self.parse($0)) }
    }

    /// Watches a folder. Watching it again changes nothing and returns the same number.
    func watch(_ path: String, _ mask: UInt32) throws(FileError) -> Int32 {
        let watch = inotify_add_watch(reader.descriptor, path, mask | UInt32(IN_ONLYDIR))
        guard watch >= 0 else { throw FileError("watch", path) }
        return watch
    }

    func unwatch(_ watch: Int32) { inotify_rm_watch(reader.descriptor, watch) }

    /// Takes the kernel's records apart.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [Event] {
        var events: [Event] = []
        var position = 0
        while position + 16 <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self))
            guard position + 16 + length <= bytes.count else { break }
            let name = bytes[position + 16..<position + 16 + length].prefix { $0 != 0 }
            events.append(
                Event(
                    watch: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self),
                    mask: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self),
                    name: String(decoding: name, as: UTF8.self)))
            position += 16 + length
        }
        return events
    }
}
