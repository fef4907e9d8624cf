import FerrySpool
import Glibc

/// The kernel's events about folders (inotify(7)), for all folders of a process.
final class Inotify: Sendable {
    private let reader: DescriptorReader

    /// - Parameter onEvents: Called on a queue of its own.
    init(onEvents: @escaping @Sendable ([InotifyEvent]) -> Void) throws(FileError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw FileError("watch", "folders") }
        reader = DescriptorReader(descriptor, label: "ferry.inotify") { onEvents(InotifyEvent.parse($0)) }
    }

    /// Watches a folder. Watching it again changes nothing and returns the same number.
    func watch(_ path: String, _ mask: UInt32) throws(FileError) -> Int32 {
        let watch = inotify_add_watch(reader.descriptor, path, mask | UInt32(IN_ONLYDIR))
        guard watch >= 0 else { throw FileError("watch", path) }
        return watch
    }

    func unwatch(_ watch: Int32) { inotify_rm_watch(reader.descriptor, watch) }
}
