import FerrySpool
import Glibc
import Synchronization

/// What happened in a spool's folder.
enum FolderEvent: Equatable, Sendable {
    /// A file of this name appeared whole, or was written to an end.
    case appeared(String)
    /// A file of this name was made, and may be still empty.
    case created(String)
    /// `control.json` or the settings changed.
    case control
    /// A writer let go of its journal.
    case journalClosed
    /// More happened than the kernel reported: only a scan shows what.
    case rescanNeeded
    /// The folder was moved, removed or unmounted.
    case gone
}

/// Reports what happens in spools: at once where the kernel reports it, by looking now and then where it does not. Neither keeps a folder open.
final class FolderWatch: Sendable {
    private let registry = Registry()
    /// `nil` when the kernel has none to give.
    private let inotify: Inotify?
    private let polled = Mutex<[Int: PolledFolder]>([:])

    private static let folderMask =
        UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    private static let stateMask =
        UInt32(IN_MOVED_TO) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// - Parameters:
    ///   - usesKernel: Off: all folders are looked at now and then.
    ///   - onEvent: Called from any thread, with the spool's number.
    init(usesKernel: Bool = true, onEvent: @escaping @Sendable (Int, FolderEvent) -> Void) {
        guard usesKernel else {
            inotify = nil
            return
        }
        inotify = try? Inotify { [registry] events in
            for event in events {
                guard event.watch >= 0 else {
                    // The queue overflowed (IN_Q_OVERFLOW).
                    for spool in registry.spools {
                        onEvent(spool, .rescanNeeded)
                        onEvent(spool, .control)
                    }
                    continue
                }
                for owner in registry.find(event.watch) {
                    if let folderEvent = Self.folderEvent(event, isStateFolder: owner.isStateFolder) {
                        onEvent(owner.spool, folderEvent)
                    }
                }
            }
        }
    }

    /// Which watch belongs to which spools: a folder that is there under two paths has one for both.
    private final class Registry: Sendable {
        struct Owner: Hashable, Sendable {
            let spool: Int
            let isStateFolder: Bool
        }

        private let watches = Mutex<[Int32: Set<Owner>]>([:])

        var spools: Set<Int> { watches.withLock { Set($0.values.joined().map(\.spool)) } }
        func find(_ watch: Int32) -> Set<Owner> { watches.withLock { $0[watch] ?? [] } }
        func add(_ watch: Int32, _ spool: Int, isStateFolder: Bool) {
            _ = watches.withLock { $0[watch, default: []].insert(Owner(spool: spool, isStateFolder: isStateFolder)) }
        }

        /// Returns the watches that no folder has any more.
        func remove(_ spool: Int) -> [Int32] {
            watches.withLock { watches in
                for (number, owners) in watches { watches[number] = owners.filter { $0.spool != spool } }
                let numbers = watches.filter(\.value.isEmpty).map(\.key)
                for number in numbers { watches[number] = nil }
                return numbers
            }
        }
    }

    static func folderEvent(_ event: InotifyEvent, isStateFolder: Bool) -> FolderEvent? {
        let isGone = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_IGNORED)
        if event.mask & isGone != 0 { return .gone }
        if isStateFolder { return [ControlFile.fileName, SettingsFile.fileName].contains(event.name) ? .control : nil }
        if event.name.hasPrefix(".") {
            let isClosed = event.mask & UInt32(IN_CLOSE_WRITE) != 0
            return isClosed && event.name.hasSuffix(".open") ? .journalClosed : nil
        }
        guard event.name.hasSuffix(".gz") else { return nil }
        return event.mask & UInt32(IN_CREATE) != 0 ? .created(event.name) : .appeared(event.name)
    }

    /// Begins to watch a spool.
    ///
    /// - Parameter isRemote: Its file system changes elsewhere too, which the kernel does not report.
    func add(_ path: String, isRemote: Bool, number: Int) {
        do throws(FileError) {
            guard let inotify, !isRemote else { throw FileError("watch", path, code: ENOSYS) }
            registry.add(try inotify.watch(path, Self.folderMask), number, isStateFolder: false)
            registry.add(try inotify.watch("\(path)/\(Spool.stateFolderName)", Self.stateMask), number, isStateFolder: true)
        } catch {
            // No watches left, or a file system that changes elsewhere.
            remove(number)
            polled.withLock { $0[number] = PolledFolder(path) }
        }
    }

    func remove(_ number: Int) {
        for watch in registry.remove(number) { inotify?.unwatch(watch) }
        polled.withLock { $0[number] = nil }
    }

    /// How often folders without a watch are to be looked at; `nil` while there are none.
    var pollInterval: Duration? { polled.withLock { $0.isEmpty ? nil : .seconds(1) } }

    /// Returns whether a folder is looked at now and then.
    func isPolled(_ number: Int) -> Bool { polled.withLock { $0[number] != nil } }

    /// The folders whose changes the kernel does not report.
    var polledFolders: [(number: Int, path: String)] {
        polled.withLock { polled in polled.map { ($0.key, $0.value.path) } }
    }

    /// Returns what a look at one of them shows.
    func events(of number: Int, _ look: Result<SpoolGlance, FileError>) -> [FolderEvent] {
        polled.withLock { $0[number]?.events(look) ?? [] }
    }
}

/// A folder that is looked at now and then: its own time of change shows whether a whole look is needed.
struct PolledFolder: Sendable {
    let path: String
    private var changed: Timestamp?
    private var told: SpoolGlance.Told?

    /// File systems note times in steps: FAT of two seconds. A change so shortly before a look may be followed by one that shows
    /// the same time.
    private static let resolution = Duration.seconds(2)

    init(_ path: String) {
        self.path = path
        _ = events(FolderLooks.glance(path))
    }

    mutating func events(_ look: Result<SpoolGlance, FileError>, now: Timestamp = .now()) -> [FolderEvent] {
        guard let glance = try? look.get() else { return [.gone] }
        var events: [FolderEvent] = []
        if glance.changed != changed {
            events.append(.rescanNeeded)
            changed = now - glance.changed > Self.resolution ? glance.changed : nil
        }
        if glance.told != told {
            events.append(.control)
            told = glance.told
        }
        return events
    }
}
