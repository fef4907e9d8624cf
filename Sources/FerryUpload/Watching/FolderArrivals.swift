import FerrySpool
import Glibc
import Synchronization

/// The names that have come into a spool's folder since a moment, and whether its state folder has changed.
///
/// The kernel queues its events (inotify(7)) before the call returns that makes them, and they are read when a question is asked. So the process that
/// claims a segment knows what the last holder left behind, without a look into the folder: in a large one, a name that is not there is slow to find.
final class FolderArrivals: Sendable {
    private let descriptor: Int32
    /// Of the segments' folder.
    private let watch: Int32
    /// Of its state folder; negative where the kernel does not report all that may change in it.
    private let stateWatch: Int32
    /// Of the state folder's export marks; negative where there are none.
    private let exportsWatch: Int32
    private let state = Mutex(State())

    fileprivate struct State {
        var names: Set<FileName> = []
        var critical: [String] = []
        /// Whether more happened than the kernel reported, or than is kept.
        var isUnclear = false
        /// How often a name came into the state folder or went, or an export's mark was changed; `nil` where that is not known any more.
        var stateChanges: Int? = 0
    }

    /// What has happened, at one look.
    struct Look {
        /// One of some names may have come.
        let mayHoldNames: Bool
        /// Two equal numbers mean that between two looks no name came into the state folder, none went, and no export's mark was changed; `nil`: that
        /// is not known.
        let stateChanges: Int?
    }

    private static let mask = UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
    private static let stateMask =
        UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_ONLYDIR)
    /// A mark has its name before it has its lines, which its folder's time tells.
    private static let exportsMask = stateMask | UInt32(IN_ATTRIB) | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE)
    /// The folder itself is watched no more.
    private static let endMask = UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)
    /// Of names that are kept: some MB.
    private static let mostNames = 50_000
    private let mostNames: Int
    /// Room on the stack for three names at least; a larger one would be allocated for every look.
    private static let bufferSize = 1024

    /// Of a folder with some 1,500 names and more on ext4. Closing a watch takes the kernel 15 ms (measured), in which as many segments are looked at
    /// one by one; and it gives a user 128 inotify descriptors by default (`fs.inotify.max_user_instances`).
    static let largeFolder = ByteCount.kibibytes(96)

    /// - Parameters:
    ///   - size: A smaller folder needs no watch.
    ///   - mostNames: More are not kept.
    /// - Returns: `nil` where it needs none, and where the kernel does not tell: there is none left, or the file system changes elsewhere too.
    init?(_ spool: Spool, from size: ByteCount = largeFolder, mostNames: Int = mostNames) {
        self.mostNames = mostNames
        guard !spool.directory.isRemote, let status = try? spool.directory.status("."), status.size >= size else { return nil }
        let opened = behindStandardStreams(inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
        guard opened >= 0 else { return nil }
        descriptor = opened
        // Of the folder that is open, wherever its path leads by now. Where that fails, the deinitializer closes.
        let path = "/proc/self/fd/\(spool.directory.descriptor)"
        watch = inotify_add_watch(descriptor, path, Self.mask)
        (stateWatch, exportsWatch) = watch >= 0 ? Self.watchState(of: spool, by: opened) : (-1, -1)
        guard watch >= 0 else { return nil }
    }

    private static func watchState(of spool: Spool, by descriptor: Int32) -> (state: Int32, exports: Int32) {
        guard let folder = spool.stateDirectory else { return (-1, -1) }
        let path = "/proc/self/fd/\(folder.descriptor)"
        let state = inotify_add_watch(descriptor, path, stateMask)
        // If it is made from here on, the watch above reports it.
        let exports = inotify_add_watch(descriptor, "\(path)/\(ExportsFolder.folderName)", exportsMask)
        return exports >= 0 || errno == ENOENT ? (state, exports) : (-1, -1)
    }

    deinit { close(descriptor) }

    /// Forgets what has come: from here on it counts.
    func begin() {
        state.withLock { state in
            read(into: &state)
            let changes = state.stateChanges
            state = State()
            state.stateChanges = changes
        }
    }

    /// Returns what has come since ``begin()``.
    func look(for names: @autoclosure () -> [String]) -> Look {
        state.withLock { state in
            read(into: &state)
            return Look(
                mayHoldNames: state.isUnclear || !state.names.isEmpty && names().contains { state.names.contains($0) },
                stateChanges: stateWatch >= 0 ? state.stateChanges : nil)
        }
    }

    /// As ``Look/stateChanges``.
    var stateChanges: Int? { look(for: []).stateChanges }

    /// Returns the names of critical segments that have come since the last call, once or more; `nil` when only a look at the folder shows them.
    func takeCritical() -> [String]? {
        state.withLock { state in
            read(into: &state)
            defer { state.critical = [] }
            return state.isUnclear ? nil : state.critical
        }
    }

    private func read(into state: inout State) {
        withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                guard count > 0 else {
                    state.lose()
                    return
                }
                for event in InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    switch event.watch {
                    case watch, ..<0: state.note(event, mostNames)
                    case exportsWatch where event.mask & Self.endMask == 0: state.countStateChange()
                    default: state.noteState(event)
                    }
                }
            }
        }
    }
}

extension FolderArrivals.State {
    fileprivate mutating func note(_ event: InotifyEvent, _ mostNames: Int) {
        // Without a name it is of the folder itself, or of a queue that overflowed.
        guard !event.name.isEmpty else { return lose() }
        guard names.count < mostNames else {
            isUnclear = true
            names = []
            return
        }
        // Another folder in its place is not watched.
        if event.name == Spool.stateFolderName { stateChanges = nil }
        // Journals, probes and folders leave nothing that is asked for.
        if event.name.hasPrefix(".") || event.mask & UInt32(IN_ISDIR) != 0 { return }
        names.insert(event.name)
        if SegmentName(event.name)?.priority == .critical { critical.append(event.name) }
    }

    fileprivate mutating func noteState(_ event: InotifyEvent) {
        // A folder that is new in it is not watched; without a name it is of the folder itself, which went away.
        let isUnwatched = event.name.isEmpty || event.mask & UInt32(IN_ISDIR) != 0
        if isUnwatched { stateChanges = nil } else { countStateChange() }
    }

    fileprivate mutating func countStateChange() { stateChanges = stateChanges.map { $0 &+ 1 } }

    /// Notes that something happened that the kernel did not report.
    fileprivate mutating func lose() {
        isUnclear = true
        names = []
        stateChanges = nil
    }
}
