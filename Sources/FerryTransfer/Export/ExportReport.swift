public import FerrySpool

/// What an export did.
public struct ExportReport: Sendable {
    /// `nil` when there was nothing to export.
    public var path: String?
    /// The bundle's random ID; empty when there was nothing to export.
    public var bundle = ""
    /// How many segments the bundle holds.
    public var segments = 0
    /// The size of the segments together.
    public var bytes = ByteCount.zero
    /// How many events they hold, but for those of ``uncounted``.
    public var events: Int64 = 0
    /// Segments that do not note how many events they hold.
    public var uncounted = 0
    /// Due segments that did not fit.
    public var left = 0
    /// Segments that another process was just sending, or that may be still being written.
    public var busy = 0
    /// Segments that went away, changed or could not be read meanwhile, each with the reason.
    public var leftOut: [(name: String, reason: String)] = []
    /// Files in the spool that are no segments.
    public var others = OtherFiles()
    /// Segments that are no whole gzip: cut off, still on their way, or damaged. They stay.
    public var damaged = 0
    /// Segments that travel in an earlier bundle.
    public var alreadyExported = 0
}
