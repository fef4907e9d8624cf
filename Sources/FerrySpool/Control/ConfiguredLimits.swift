/// The limits that a program starts with.
public struct ConfiguredLimits: Equatable, Sendable {
    /// The limits themselves.
    public var retention: RetentionLimits
    /// A person set them for this program. Otherwise they are a profile's, and hold where the spool has none of its own.
    public var isSet: Bool
    /// As ``SpoolSettings/setBy`` will have it.
    public var program: String

    /// Creates the limits; the program's name becomes one line of at most 128 characters.
    public init(_ retention: RetentionLimits, isSet: Bool, program: String) {
        self.retention = retention
        self.isSet = isSet
        self.program = SpoolSettings.name(of: program)
    }

    /// What becomes of a spool's settings when the program starts.
    enum Change: Equatable {
        case keep
        case write(SpoolSettings)
        /// They were this program's, which is configured with no limits any more.
        case remove
    }

    func change(of known: SpoolSettings?, at now: Timestamp) -> Change {
        guard isSet else { return known?.setBy == program ? .remove : .keep }
        let wanted = SpoolSettings(retention: retention, setAt: now, setBy: program)
        return known?.retention == wanted.retention && known?.setBy == wanted.setBy ? .keep : .write(wanted)
    }
}
