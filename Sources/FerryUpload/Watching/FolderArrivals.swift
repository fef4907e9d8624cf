import FerrySpool
import Glibc
import Synchronization

/// The names that have come into a spool's folder since a moment.
///
/// The kernel queues its news (inotify(7)) before the call returns that makes them, and they are read when a question is asked. So the process that
/// claims a segment knows what the last holder left behind, without a look into the folder: in a large one, a name that is not there is slow to find.
final class FolderArrivals: Sendable {
    private let descriptor: Int32
    private let state = Mutex(State())

    fileprivate struct State {
        var names: Set<FileName> = []
        var critical: [String] = []
        /// More happened than was told, or than is kept.
        var isUnclear = false
    }

    private static let mask = UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
    /// Of names that are kept: some MB.
    private static let mostNames = 50_000
    private let mostNames: Int
    private static let bufferSize = 1 << 14

    /// Of a folder with some hundred names and more, whatever its file system. In a smaller one a name is found at once, and the kernel gives a user
    /// 128 descriptors for news by default (`fs.inotify.max_user_instances`).
    static let largeFolder = ByteCount.kibibytes(32)

    /// - Parameters:
    ///   - size: A smaller folder needs no watch.
    ///   - mostNames: More are not kept.
    /// - Returns: `nil` where it needs none, and where the kernel does not tell: there is none left, or the file system changes elsewhere too.
    init?(_ spool: Spool, from size: ByteCount = largeFolder, mostNames: Int = mostNames) {
        self.mostNames = mostNames
        guard !spool.directory.isRemote, let status = try? spool.directory.status("."), status.size >= size else { return nil }
        let path = "/proc/self/fd/\(spool.directory.descriptor)"
        let opened = behindStandardStreams(inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
        guard opened >= 0 else { return nil }
        descriptor = opened
        // Of the folder that is open, wherever its path leads by now. Where that fails, the deinitializer closes.
        guard inotify_add_watch(descriptor, path, Self.mask) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Forgets what has come: from here on it counts.
    func begin() {
        state.withLock { state in
            read(into: &state)
            state = State()
        }
    }

    /// Whether one of some names may have come.
    func mayHold(oneOf names: @autoclosure () -> [String]) -> Bool {
        state.withLock { state in
            read(into: &state)
            return state.isUnclear || !state.names.isEmpty && names().contains { state.names.contains($0) }
        }
    }

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
                    state.isUnclear = true
                    return
                }
                for event in InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    state.note(event, mostNames)
                }
            }
        }
    }
}

extension FolderArrivals.State {
    fileprivate mutating func note(_ event: InotifyEvent, _ mostNames: Int) {
        // Without a name it is of the folder itself, or of a queue that overflowed.
        guard !event.name.isEmpty, names.count < mostNames else {
            isUnclear = true
            names = []
            return
        }
        // Journals, probes and folders leave nothing that is asked for.
        if event.name.hasPrefix(".") || event.mask & UInt32(IN_ISDIR) != 0 { return }
        names.insert(event.name)
        if SegmentName(event.name)?.priority == .critical { critical.append(event.name) }
    }
}
