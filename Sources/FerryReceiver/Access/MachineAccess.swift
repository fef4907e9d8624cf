import FerrySpool
import Glibc
import Synchronization

/// Knows a machine by what it shows, as the file of machines says at that moment: a machine that is revoked there is refused from then on.
final class MachineAccess: Sendable {
    private struct State {
        /// Open, so that no other file gets its number.
        var file: OpenFile?
        /// What it was when it was read; `nil`: it is to be read again.
        var content: FileStatus.Content?
        var machines: [Machine] = []
        /// Whether some lines of it are no machines.
        var isDamaged = false
        var byToken: [BodyDigest: Int] = [:]
        var byCertificate: [BodyDigest: Int] = [:]
    }

    private let state = Mutex(State())
    private let folder: MachineFolder
    private let onProblem: @Sendable (String) -> Void

    /// Creates the access to a hub's folder; nothing is read yet.
    ///
    /// - Parameter onProblem: Called with each line of the file that is no machine, once for each time that it is read.
    init(_ folder: MachineFolder, onProblem: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.onProblem = onProblem
    }

    /// Reads the list, so that a receiver that could let no machine in does not start.
    func read() throws(FileError) {
        for problem in try state.withLock({ state throws(FileError) in try follow(&state) }) { onProblem(problem) }
    }

    /// What a request shows.
    struct Credentials: Sendable {
        var token: BodyDigest?
        var certificate: BodyDigest?
    }

    enum Visitor {
        case machine(Machine)
        /// What was shown belongs to no machine, or no longer does. Two that are different machines' count as no machine's.
        case unknown
        /// What was shown may be that of a machine whose line in the file is damaged.
        case perhapsKnown
    }

    /// Returns which machine shows these credentials.
    ///
    /// - Throws: `FileError` when the file cannot be read: then no machine is known.
    func visitor(showing credentials: Credentials, at now: Timestamp) throws(FileError) -> Visitor {
        let problems: [String]
        let visitor: Visitor
        (visitor, problems) = try state.withLock { state throws(FileError) in
            let problems = try follow(&state)
            if let machine = Self.machine(credentials, at: now, state) { return (.machine(machine), problems) }
            let isSomething = credentials.token != nil || credentials.certificate != nil
            return (isSomething && state.isDamaged ? .perhapsKnown : .unknown, problems)
        }
        for problem in problems { onProblem(problem) }
        return visitor
    }

    private static func machine(_ credentials: Credentials, at now: Timestamp, _ state: State) -> Machine? {
        var places: [Int] = []
        if let token = credentials.token {
            guard let place = state.byToken[token] else { return nil }
            let until = state.machines[place].tokens.first { $0.digest == token }?.until
            guard until.map({ now < $0 }) ?? true else { return nil }
            places.append(place)
        }
        if let certificate = credentials.certificate, let place = state.byCertificate[certificate] { places.append(place) }
        guard let first = places.first, places.allSatisfy({ $0 == first }) else { return nil }
        return state.machines[first]
    }

    private static let tick = Duration.milliseconds(100)

    private func follow(_ state: inout State) throws(FileError) -> [String] {
        let directory = try Directory.open(folder.path)
        guard let now = try directory.status(MachineList.fileName) else {
            throw FileError("open", folder.listPath, code: ENOENT)
        }
        if state.content == now.content { return [] }
        state = State()
        guard let file = try directory.open(MachineList.fileName) else { throw FileError("open", folder.listPath, code: ENOENT) }
        // Looked at first: what is changed while it is read is read again.
        let status = try file.status()
        let list = MachineList(try MachineFolder.read(file, folder.listPath), path: folder.listPath)
        state.file = file
        // Within a tick of the kernel's clock another change would not show. A time that lies ahead is none of now, and another change gets another.
        let age = Timestamp.now() - status.modified
        if age > Self.tick || age < .zero - Self.tick { state.content = status.content }
        state.machines = list.machines
        state.isDamaged = !list.problems.isEmpty
        for (place, machine) in list.machines.enumerated() {
            for token in machine.tokens { state.byToken[token.digest] = place }
            for certificate in machine.certificates { state.byCertificate[certificate] = place }
        }
        return list.problems
    }
}
