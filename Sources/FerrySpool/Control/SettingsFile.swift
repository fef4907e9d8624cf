/// The limits that a person set for a spool: the file `.ferry/settings.json`.
package struct SettingsFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// The file's name in ``Spool/stateFolderName``.
    package static let fileName = "settings.json"

    /// Returns the limits that a person set; `nil` when there are none that can be read.
    package func read(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> SpoolSettings? {
        try spool.stateDirectory?.readStateOfAnyKind(SpoolSettings.self, from: Self.fileName, warn: warn)
    }

    /// Returns the limits that hold.
    ///
    /// - Parameters:
    ///   - standard: Those of the program that asks, for a spool that has none of its own. Settings that cannot be understood limit nothing: what
    ///     they said may be more than any standard.
    /// - Throws: ``FileError`` when they cannot be read now: what they are is not known then.
    package func limits(
        or standard: RetentionLimits, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetentionLimits {
        var isUnreadable = false
        let known = try read {
            isUnreadable = true
            warn($0)
        }
        return known?.retention ?? (isUnreadable ? RetentionLimits() : standard)
    }

    /// Makes the limits that were set for a program the spool's, when the program starts to keep limits.
    ///
    /// - Returns: The limits that hold from now on. Settings that cannot be written, on a full disk, hold for this program alone.
    package func adopt(_ configured: ConfiguredLimits, at now: Timestamp, warn: (UnreadableState) -> Void = { _ in })
        -> RetentionLimits
    {
        do throws(FileError) {
            return try spool.whileLocked { state throws(FileError) in
                var isUnreadable = false
                let known = try read {
                    isUnreadable = true
                    warn($0)
                }
                switch configured.change(of: known, at: now) {
                case .keep: return known?.retention ?? (isUnreadable ? RetentionLimits() : configured.retention)
                case .remove:
                    try state.remove(Self.fileName)
                    return configured.retention
                case .write(let settings):
                    try state.writeState(settings, to: Self.fileName, durable: true)
                    return settings.retention
                }
            }
        } catch {
            if configured.isSet { return configured.retention }
            do throws(FileError) { return try limits(or: configured.retention) } catch {
                warn(
                    UnreadableState(
                        path: "\(spool.path)/\(Spool.stateFolderName)/\(Self.fileName)",
                        reason: "\(error); nothing is limited by it"))
                return RetentionLimits()
            }
        }
    }
}

extension Spool {
    /// The limits that a person set for the spool.
    package var settings: SettingsFile { SettingsFile(spool: self) }
}
