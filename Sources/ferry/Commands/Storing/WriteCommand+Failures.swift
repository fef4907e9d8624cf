import FerrySpool

/// What `ferry write` says when not all is well: which lines are safe, and how to go on behind them.
extension WriteCommand {
    /// Returns the error of a call that could not read or store on.
    func failure(
        _ error: any Error, _ stored: StoredInput, in spool: Spool, _ writer: SegmentWriter
    ) throws -> any Error {
        switch error {
        case let error as InvalidInputError:
            let problem = "\(error.path), \(error.problem). What comes before it is"
            let hint = error.hint?.advice(input: stored.shellPath, program: stored.form.program)
            let advice = hint ?? "mend the \(array ? "element" : "line"), or add --skip-invalid. \(stored.continuation)"
            let segments: [SegmentName]
            do throws(SegmentWriteError) {
                segments = try writer.finish()
            } catch let failure {
                guard writer.firstUnstored == nil, !spool.directory.isRemoved else {
                    return try stopped(failure.exitStatus, "\(failure)", stored, in: spool, writer)
                }
                if output.json { try WriteReport(stored, isPublished: false).print() }
                return CommandError(.badData, "\(problem) stored, and \(Self.publishedLater) (\(failure)); \(advice)")
            }
            if output.json { try WriteReport(stored, segments: segments, isPublished: true).print() }
            let what = "\(counted(stored.events, "event")) in \(counted(segments.count, "segment"))"
            return CommandError(.badData, "\(problem) published: \(what); \(advice)")
        case let error as SegmentWriteError: return try stopped(error.exitStatus, "\(error)", stored, in: spool, writer)
        case let error as DecodingFailure: return try stopped(.badData, "\(error)", stored, in: spool, writer)
        case let error as FileError:
            return try stopped(error.isOutOfSpace ? .spoolFull : .localFailure, "\(error)", stored, in: spool, writer)
        default: return error
        }
    }

    private static let publishedLater = "a part waits in a journal, which the next ferry upload or write publishes"

    /// Returns the error of a call that stored everything that was read: nothing of it is to be written again. Only an input that was read to its end
    /// may be thrown away.
    func unpublished(
        _ failure: SegmentWriteError, _ stored: StoredInput, isInterrupted: Bool, in spool: Spool
    ) throws -> CommandError {
        if spool.directory.isRemoved { return try gone(stored, spool) }
        if output.json { try WriteReport(stored, isPublished: false).print() }
        var message =
            "\(failure). All \(counted(stored.events, "event")) are stored, to \(array ? "element" : "line") \(stored.nextLine - 1) of \(stored.path), and \(Self.publishedLater)"
        if isInterrupted { message += ". Interrupted. \(stored.whereItStopped). \(stored.continuation)" }
        guard failure.exitStatus == .spoolFull else { return CommandError(failure.exitStatus, message) }
        return CommandError(isInterrupted ? .interrupted : stored.invalid > 0 ? .badData : .remaining, message)
    }

    /// Says exactly which lines are safe, so that another call can go on behind them.
    func stopped(
        _ status: ExitStatus, _ reason: String, _ stored: StoredInput, in spool: Spool, _ writer: SegmentWriter
    ) throws -> CommandError {
        let isForced = (try? writer.sync()) != nil
        // What cannot be published now stays in its journal, which the next ferry write or upload publishes.
        let isPublished = (try? writer.finish()) != nil
        if spool.directory.isRemoved { return try gone(stored, spool) }
        if output.json { try WriteReport(stored, isPublished: isPublished, isComplete: false).print() }
        var message = "\(reason). \(stored.whereItStopped)"
        if !isPublished { message += "; \(Self.publishedLater)" }
        if !isForced { message += "; the disk refused to be forced, so a power cut may take some of it" }
        return CommandError(status, "\(message). \(stored.continuation)")
    }

    /// Returns the error for a folder that went away, with all that this call has put into it, unless an uploader was faster.
    private func gone(_ stored: StoredInput, _ spool: Spool) throws -> CommandError {
        let none = StoredInput(inputs: inputs, index: 0, firstLine: firstLine, nextLine: firstLine, invalid: stored.invalid)
        if output.json { try WriteReport(none, isPublished: false).print() }
        return CommandError(
            .localFailure,
            "the spool \(spool.path) was removed while it was written into, and what this call had stored there with it: none of \(counted(stored.events, "event")) is stored, from \(none.path), line \(firstLine), on; make the spool anew (ferry init) and write them again"
        )
    }
}

extension SegmentWriteError {
    var exitStatus: ExitStatus {
        switch self {
        case .spoolFull: .spoolFull
        case .disabled: .unavailable
        case .file(let error): error.isOutOfSpace ? .spoolFull : .localFailure
        }
    }
}
