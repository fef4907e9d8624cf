/// The documented defaults of the SDKs that Ferry does the work of.
public enum TrackerProfile: Sendable {
    /// App Center Analytics: 50 events or 6 s, an interval of 6 s to a day that is fixed at the start, 10 MB, 25 days.
    case appCenter
    /// Google Analytics for iOS, version 3: dispatched every 120 s, 0 or negative: by hand. 20 hits a request, the protocol's batch.
    case googleAnalytics
    /// Sensors Analytics: 50 events a request, flushed every 15 s (at least 5) and at 100 stored; a change of the interval flushes.
    case sensors
}
