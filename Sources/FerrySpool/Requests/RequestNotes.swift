import Synchronization

/// The notes of a process about its requests: a file of its own in `.ferry/requests/`, locked for as long as it lives.
///
/// Nothing is forced to the disk: what it is for is the death of the process, not that of the machine.
package final class RequestNotes: Sendable {
    private let folder: Directory
    /// The file's name in `.ferry/requests/`.
    package let name: String
    private let file: OpenFile
    private let spool: Spool
    private let state = Mutex(State())

    private struct State {
        /// How much of the file is notes.
        var length: Int64 = 0
        /// Requests whose outcome is not written down.
        var open = 0
    }

    /// A longer file is added to no more, in bytes.
    private static let fullLength: Int64 = 1 << 16

    /// With the last note, and a line for each arrival and outcome.
    static let longest = ByteCount.kibibytes(256)

    init(_ folder: Directory, _ name: String, _ file: OpenFile, of spool: Spool) {
        self.spool = spool
        self.folder = folder
        self.name = name
        self.file = file
    }

    deinit {
        // A fork's child has the object, and not the file.
        if file.isOfThisProcess { try? folder.remove(name) }
    }

    /// Whether the file has 64 KiB or more, so that no note is added to it.
    package var isFull: Bool { state.withLock { $0.length >= Self.fullLength } }

    /// Notes a request.
    ///
    /// - Returns: What is to be kept until its outcome is written down; `nil` where it cannot be noted, on a full disk perhaps.
    package func add(_ note: RequestNote) -> NotedRequest? {
        guard file.isOfThisProcess else { return nil }
        return state.withLock { state in
            let place = state.length
            guard append(JSONLine.encode(note), &state) else { return nil }
            state.open += 1
            return NotedRequest(self, at: place)
        }
    }

    private func append(_ line: [UInt8], _ state: inout State) -> Bool {
        let place = state.length
        do throws(FileError) {
            // Without its note a request may go out twice in two forms: on a full disk the reserve is for that, too.
            try spool.room.lendingReserve { () throws(FileError) in try file.write(line, at: place) }
        } catch {
            try? file.cut(to: state.length)
            return false
        }
        state.length += Int64(line.count)
        return true
    }

    func noteArrival(at place: Int64) {
        guard file.isOfThisProcess else { return }
        state.withLock { _ = append(JSONLine.encode(RequestNote.Arrived(arrived: place)), &$0) }
    }

    func end(at place: Int64) {
        guard file.isOfThisProcess else { return }
        state.withLock { state in
            state.open -= 1
            if state.open == 0, (try? file.cut(to: 0)) != nil {
                state.length = 0
            } else {
                // A segment that a person puts back into the spool would be taken for one of this request.
                _ = append(JSONLine.encode(RequestNote.Decided(decided: place)), &state)
            }
        }
    }
}
