import FerrySpool
import Glibc
import Synchronization

/// The IDs in the names of a folder, as the kernel tells of them (inotify): what a receiver has not named itself may have come another way, by
/// rsync say. Without it, each request looks for some ninety names that may not be there.
final class PresentIDs: Sendable {
    private struct State {
        /// How many names have an ID of a hash. Different ones may share it: what counts is that none is missing.
        var counts: [Int: Int] = [:]
        /// The kernel tells no more.
        var isOver = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32
    private let directory: Directory

    private static let come = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
    private static let gone = UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    private static let over = UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)

    /// - Returns: `nil` where the kernel does not tell of everything, as on NFS, or has no watches left.
    init?(_ directory: Directory) {
        guard !directory.isRemote else { return nil }
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let path = "/proc/self/fd/\(directory.descriptor)"
        guard inotify_add_watch(descriptor, path, Self.come | Self.gone | UInt32(IN_ONLYDIR)) >= 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.directory = directory
        state.withLock { list(&$0) }
    }

    deinit { close(descriptor) }

    /// Whether the folder may have names with one of some IDs now.
    func mayHold(_ ids: [SegmentID]) -> Bool {
        state.withLock { state in
            catchUp(&state)
            return state.isOver || ids.contains { state.counts[$0.text.hashValue] != nil }
        }
    }

    private func list(_ state: inout State) {
        state.counts = [:]
        do throws(FileError) {
            for name in try directory.names() { Self.count(name, 1, &state) }
        } catch {
            state.isOver = true
        }
    }

    private func catchUp(_ state: inout State) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
            while !state.isOver {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else {
                    if count < 0, errno != EAGAIN, errno != EINTR { state.isOver = true }
                    return
                }
                for event in InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { take(event, &state) }
                // The longest record has 272 bytes: less than a whole buffer is all there is.
                if count < buffer.count - 272 { return }
            }
        }
    }

    private func take(_ event: InotifyEvent, _ state: inout State) {
        if event.watch < 0 {
            // News were dropped (IN_Q_OVERFLOW).
            list(&state)
        } else if event.mask & Self.over != 0 {
            state.isOver = true
        } else {
            Self.count(event.name, event.mask & Self.come != 0 ? 1 : -1, &state)
        }
    }

    private static func count(_ name: String, _ change: Int, _ state: inout State) {
        guard !name.hasPrefix("."), let segment = SegmentName(name) else { return }
        let hash = segment.id.hashValue
        let count = state.counts[hash, default: 0] + change
        state.counts[hash] = count > 0 ? count : nil
    }
}
