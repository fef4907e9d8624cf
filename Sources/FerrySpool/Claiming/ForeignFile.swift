/// Whether a file with a name from another tool is complete. It was not published in one step: it may be still being copied.
package enum ForeignFile {
    /// cp, scp and rsync never pause for this long while a file is written on one machine.
    package static let quietPeriod = Duration.seconds(5)
    /// A copy that stood still for this long, and is no whole gzip file, was given up.
    package static let patience = Duration.seconds(600)

    /// Whether a file may be taken, and if not, what is to be done.
    package enum Readiness: Equatable, Sendable {
        case ready
        /// Left alone until then.
        case settling(until: Timestamp)
        /// Will never be whole.
        case givenUp
    }

    /// Returns whether it makes sense to look into the file.
    ///
    /// - Parameter changed: The kernel's time of the last change, which no tool can set.
    package static func isQuiet(changed: Timestamp, now: Timestamp) -> Bool {
        // A change far in the future shows a clock that was set back since: how long ago it was is unknown.
        abs((now - changed).wholeMilliseconds) >= quietPeriod.wholeMilliseconds
    }

    /// Returns whether a file may be taken now.
    package static func readiness(changed: Timestamp, isWhole: Bool, now: Timestamp) -> Readiness {
        guard isQuiet(changed: changed, now: now) else { return .settling(until: changed + quietPeriod) }
        if isWhole { return .ready }
        return now - changed >= patience ? .givenUp : .settling(until: max(changed, now) + patience)
    }

    /// Returns when to look again at a sound file with a name of the format but without notes; `nil` when it may leave now. It may be a copy that
    /// just came to a member's end.
    ///
    /// - Parameter isFinished: Whether its times show that something else than a write happened last, as publishing by a new name does.
    package static func mayGrow(isFinished: Bool, changed: Timestamp, now: Timestamp) -> Timestamp? {
        isFinished || isQuiet(changed: changed, now: now) ? nil : changed + quietPeriod
    }

    /// Returns when to look again at a damaged file with a name of the format. Ferry publishes in one step, but `rsync --inplace` and `--partial`
    /// do not: so it is damaged only when it is quiet, and cut off only when no process went on with it for long.
    ///
    /// - Returns: `nil` when it will never be whole.
    package static func mayBecomeWhole(_ damage: GzipError.Kind, changed: Timestamp, now: Timestamp) -> Timestamp? {
        guard isQuiet(changed: changed, now: now) else { return changed + quietPeriod }
        switch damage {
        case .truncated, .empty: return now - changed >= patience ? nil : changed + patience
        default: return nil
        }
    }
}

extension Spool {
    /// Returns when something last happened to a pending file that may be a part of writing it. In a lane the kernel's own time does not tell: links to
    /// other lanes come and go.
    package func touched(_ status: FileStatus) -> Timestamp { isLane ? status.modified : status.changed }

    /// Returns when to look again at a pending segment that may be still being written, as far as that can be seen without claiming it; `nil` when
    /// it may leave now.
    package func settles(_ name: String, _ status: FileStatus, now: Timestamp) throws(FileError) -> Timestamp? {
        let changed = touched(status)
        guard !ForeignFile.isQuiet(changed: changed, now: now) else { return nil }
        let settled = changed + ForeignFile.quietPeriod
        guard SegmentName(name) != nil else { return settled }
        // Its writer's notes show that it is whole.
        if status.isFinishedByItsTimes { return nil }
        return try notedEvents(of: name) == nil ? settled : nil
    }
}

extension Claim {
    /// Returns when to look again at a segment that was found sound and may be still being written; `nil` when it may leave now.
    package func mayGrow(_ examination: Examination, now: Timestamp) -> Timestamp? {
        if segmentName == nil {
            return ForeignFile.isQuiet(changed: touched, now: now) ? nil : touched + ForeignFile.quietPeriod
        }
        guard examination.lacksNotes else { return nil }
        return ForeignFile.mayGrow(isFinished: status.isFinishedByItsTimes, changed: touched, now: now)
    }
}

extension Spool {
    /// Returns what is wrong with a pending file, found by inflating it, without a claim; `nil` when it is sound, or gone.
    package func damage(of name: String, inflateLimit: ByteCount = .mebibytes(1024)) throws(FileError) -> GzipError? {
        guard let file = try directory.open(name) else { return nil }
        do {
            try file.inflate(limit: inflateLimit, strictly: true) { _ in }
            return nil
        } catch let damage as GzipError {
            return damage
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("passing bytes over throws nothing: \(error)")
        }
    }
}
