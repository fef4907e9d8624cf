package import FerrySpool
import Glibc
import Synchronization

/// What the kernel tells of folders (inotify): which names with IDs come and go, whichever process makes them. One descriptor serves all folders of a
/// process, of which the kernel gives a user 128 by default.
package final class FolderIDs: Sendable {
    /// A folder that is watched, by the kernel's number.
    package typealias Watch = Int32

    private struct Folder {
        let directory: Directory
        /// How many names have an ID of a hash. Different ones may share it: what counts is that none is missing.
        var counts: [Int: Int] = [:]
        /// The kernel tells no more.
        var isOver = false
        /// How many have asked for it.
        var users = 1

        mutating func list() {
            counts = [:]
            do throws(FileError) {
                for name in try directory.names() { count(name, 1) }
            } catch {
                isOver = true
            }
        }

        mutating func count(_ name: String, _ change: Int) {
            guard !name.hasPrefix("."), let segment = SegmentName(name) else { return }
            let hash = segment.id.hashValue
            let count = counts[hash, default: 0] + change
            counts[hash] = count > 0 ? count : nil
        }
    }

    private let folders = Mutex<[Watch: Folder]>([:])
    private let descriptor: Int32

    private static let come = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
    private static let gone = UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    private static let over = UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)

    /// Opens a descriptor of inotify.
    ///
    /// - Returns: `nil` where the kernel has no more of it for this user.
    package init?() {
        descriptor = behindStandardStreams(inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Begins to follow a folder.
    ///
    /// - Returns: `nil` where the kernel does not tell of everything, as on NFS, or has no watches left.
    package func watch(_ directory: Directory) -> Watch? {
        guard !directory.isRemote else { return nil }
        return folders.withLock { folders in
            let path = "/proc/self/fd/\(directory.descriptor)"
            let watch = inotify_add_watch(descriptor, path, Self.come | Self.gone | UInt32(IN_ONLYDIR))
            guard watch >= 0 else { return nil }
            // The same folder has the same number.
            if folders[watch] != nil {
                folders[watch]?.users += 1
            } else {
                var folder = Folder(directory: directory)
                folder.list()
                folders[watch] = folder
            }
            return watch
        }
    }

    /// Ends the use of a watch; the last user's end removes it from the kernel.
    package func stop(_ watch: Watch) {
        folders.withLock { folders in
            folders[watch]?.users -= 1
            guard let folder = folders[watch], folder.users == 0 else { return }
            folders[watch] = nil
            if !folder.isOver { inotify_rm_watch(descriptor, watch) }
        }
    }

    /// Returns whether a folder may have names with one of some IDs now.
    package func mayHold(_ ids: [SegmentID], _ watch: Watch) -> Bool {
        folders.withLock { folders in
            catchUp(&folders)
            guard let folder = folders[watch] else { return true }
            return folder.isOver || ids.contains { folder.counts[$0.text.hashValue] != nil }
        }
    }

    private func catchUp(_ folders: inout [Watch: Folder]) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else {
                    if count < 0, errno != EAGAIN, errno != EINTR {
                        for watch in folders.keys { folders[watch]?.isOver = true }
                    }
                    return
                }
                for event in InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    Self.take(event, &folders)
                }
                // The longest record has 272 bytes: less than a whole buffer is all there is.
                if count < buffer.count - 272 { return }
            }
        }
    }

    private static func take(_ event: InotifyEvent, _ folders: inout [Watch: Folder]) {
        if event.watch < 0 {
            // Events were dropped (IN_Q_OVERFLOW).
            for watch in folders.keys { folders[watch]?.list() }
        } else if event.mask & over != 0 {
            folders[event.watch]?.isOver = true
        } else {
            folders[event.watch]?.count(event.name, event.mask & come != 0 ? 1 : -1)
        }
    }
}
