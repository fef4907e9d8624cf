import Glibc

extension Arrivals {
    /// Completes or removes the arrivals that a killed receiver left, one by one.
    ///
    /// - Returns: The segments that were published, and the arrivals that had to stay.
    package func finishLeft() throws(FileError) -> Recovery {
        var recovery = Recovery()
        finishLeft(among: try spool.directory.hiddenNames(), &recovery)
        return recovery
    }

    /// Finishes the arrivals that no process has.
    ///
    /// - Parameter names: The hidden names in the folder.
    func finishLeft(among names: [String], _ recovery: inout Recovery) {
        var arrivals = names.filter { $0.hasSuffix("\(EntryKind.arrivalSuffix)") }[...]
        // Each is open until its line is found.
        while !arrivals.isEmpty {
            arrivals = arrivals.dropFirst(finishSome(arrivals.prefix(Self.mostAtOnce), &recovery))
        }
    }

    private static let mostAtOnce = 256

    /// Finishes some arrivals.
    ///
    /// - Returns: How many of the names it has looked at: one at least, and not all where no more files may be open.
    private func finishSome(_ names: ArraySlice<String>, _ recovery: inout Recovery) -> Int {
        var left: [String: OpenFile] = [:]
        var looked = 0
        for name in names {
            do throws(FileError) {
                if case .locked(let file) = try spool.directory.openLocked(name) {
                    left[name] = file
                    // The log takes some more.
                    if DescriptorNumbers.areScarce(beside: file) {
                        looked += 1
                        break
                    }
                }
            } catch {
                if error.isOutOfFiles, !left.isEmpty { break }
                recovery.note(name, error)
            }
            looked += 1
        }
        guard !left.isEmpty else { return looked }
        var logged: [String: Logged] = [:]
        do throws(FileError) {
            try spool.received.forEach { entry in
                guard let file = entry.file, left[file] != nil else { return }
                logged[file] = Logged(entry, after: logged[file])
            }
        } catch {
            // Which of them were accepted is not known: none may go.
            for name in left.keys.sorted() { recovery.note(name, error) }
            return looked
        }
        for (name, file) in left.sorted(by: { $0.key < $1.key }) {
            do throws(FileError) {
                try finish(name, file, as: logged[name], &recovery)
            } catch {
                // Another process that opens the spool at this moment may have finished it.
                if error.code == ENOENT, (try? spool.directory.contains(name)) == false { continue }
                recovery.note(name, error)
            }
        }
        do throws(FileError) { try spool.directory.sync() } catch { recovery.note(Spool.stateFolderName, error) }
        return looked
    }

    /// What the log has of a hidden file.
    private struct Logged {
        let segment: String
        /// Of one that several are gathered in: where they are.
        let parts: [Range<Int64>]

        init(_ entry: ReceivedEntry, after earlier: Logged?) {
            segment = entry.fileName
            let parts = earlier?.parts ?? []
            guard let end = entry.end, end >= 0, (0...end).contains(entry.bytes) else {
                self.parts = parts
                return
            }
            self.parts = parts + [end - entry.bytes..<end]
        }
    }

    /// Gives an arrival its name, or removes it when it was not accepted.
    ///
    /// - Parameter logged: `nil` when no line accepted it.
    private func finish(
        _ name: String, _ file: OpenFile, as logged: Logged?, _ recovery: inout Recovery
    ) throws(FileError) {
        guard let logged else { return try spool.directory.remove(name) }
        let segment = logged.segment
        if !logged.parts.isEmpty {
            try spool.directory.open(name, flags: O_RDWR | O_NONBLOCK).keep(logged.parts)
        }
        if try spool.directory.renameWithoutReplacing(name, to: segment) { return recovery.arrived.append(segment) }
        // A rename that was cut short, or the same bytes by another way. Other bytes were answered for: they stay.
        guard let there = try spool.directory.open(segment), try there.hasSameContent(as: file) else {
            throw FileError("name it \(segment), which has other content,", spool.directory.pathOf(name), code: EEXIST)
        }
        // The arrival was forced; what came by the other way need not be.
        try there.sync()
        try spool.directory.sync()
        try spool.directory.remove(name)
    }
}
