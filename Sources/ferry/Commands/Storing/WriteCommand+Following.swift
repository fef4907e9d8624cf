import FerrySpool

/// `ferry write --follow`.
extension WriteCommand {
    /// Follows the log until a signal.
    func follow(
        _ spool: Spool, _ writer: SegmentWriter, _ invalidLines: InvalidLines, _ interrupt: SignalPipe
    ) throws {
        let log = FollowedLog(files[0])
        let session = FollowSession(
            log, notes: try notes(of: log, in: spool), writer: writer, invalidLines: invalidLines, textField: asText,
            interrupt: interrupt, messages: spoolOptions.log)
        do {
            try session.run { spool.isAtItsPath }
        } catch {
            // What is in the journal is published; how far that is is known by it.
            let isPublished = (try? writer.finish()) != nil
            let status: ExitStatus
            switch error {
            case let error as SegmentWriteError: status = error.exitStatus
            case let error as FileError: status = error.isOutOfSpace ? .spoolFull : .localFailure
            case is DecodingFailure: status = .localFailure
            case let error as FollowError: status = error.isAboutLine ? .badData : .localFailure
            case FollowNotes.Failure.unreadable(let path):
                throw CommandError(
                    .localFailure,
                    "\(path), which says how far \(log.path) is stored, cannot be understood: remove it, and all of the log is stored once more"
                )
            default: throw error
            }
            let advice = (error as? FollowError)?.isAboutLine == true ? "; add --skip-invalid, or --as-text FIELD" : ""
            let later = isPublished ? "" : "; a part waits in a journal, which the next ferry upload or write publishes"
            throw CommandError(
                status, "\(error)\(advice). The same call goes on behind the last line that is stored\(later)")
        }
        let stored = StoredInput(
            inputs: files, index: 0, firstLine: 1, nextLine: session.taken + 1, events: session.events, invalid: session.invalid)
        let segments: [SegmentName]
        do throws(SegmentWriteError) {
            segments = try writer.finish()
        } catch {
            throw try unpublished(error, stored, isInterrupted: false, in: spool)
        }
        try report(stored, segments)
    }

    private func notes(of log: FollowedLog, in spool: Spool) throws(CommandError) -> FollowNotes {
        do throws(FollowNotes.Failure) {
            return try FollowNotes(of: log.path, in: spool)
        } catch {
            switch error {
            case .file(let error): throw CommandError(error)
            case .isFollowed: throw CommandError(.localFailure, "another process follows \(log.path) into \(spool.path)")
            case .unreadable(let path): throw CommandError(.localFailure, "\(path) cannot be understood")
            }
        }
    }
}
