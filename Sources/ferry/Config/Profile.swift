import FerrySpool

/// Sets of numbers that belong together.
enum Profile: String, CaseIterable, Sendable {
    /// Ferry's own: each segment leaves as it appears.
    case ferry
    /// App Center's SDK for iOS: `MSACChannelUnitConfiguration`, `MSACConstants`, `MSACHttpCall`.
    case appcenter
    /// Google Analytics' SDK v3 for iOS: `GAI.h`.
    case googleAnalytics = "google-analytics"
    /// Sensors Analytics' SDK for iOS: `SAConfigOptions`.
    case sensors
}

extension Profile {
    /// Which intervals its SDK allows; `nil`: any.
    var intervalBounds: IntervalBounds? {
        switch self {
        case .ferry: nil
        case .appcenter: .appCenter
        case .googleAnalytics: .googleAnalytics
        case .sensors: .sensors
        }
    }
}
