public import FerrySpool

/// What a long-running uploader does.
public struct RunOptions: Sendable {
    /// ``UploadOptions/retention`` holds for spools without settings of their own (`SpoolSettings`).
    public var upload: UploadOptions
    /// The limits that are stored in each spool when it is opened; `nil`: none.
    public var limits: ConfiguredLimits?
    /// When the segments of each spool are sent.
    public var schedule: SchedulePolicy
    /// When sending is allowed; `nil`: always.
    public var windows: UploadWindows?
    /// Which interfaces may carry segments, and whether the network is watched.
    public var network = NetworkPolicy()
    /// How long delivered segments are kept in `sent/`.
    public var sentRetention = RetentionLimits()

    /// Creates options without windows, with the default network policy, and with no limits for `sent/`.
    public init(upload: UploadOptions, schedule: SchedulePolicy) {
        self.upload = upload
        self.schedule = schedule
    }
}
