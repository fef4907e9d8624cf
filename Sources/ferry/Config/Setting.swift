import FerrySpool
import FerryUpload

/// One setting of `ferry run`: its key, what its value must look like, and where its default comes from.
struct Setting: Sendable {
    let key: String
    /// Several values, as a YAML list or separated by commas.
    let isList: Bool
    /// `nil`: nothing unless somebody says something.
    let defaultText: String?
    /// The documented numbers of the mobile SDKs.
    let profiles: [Profile: String]
    /// What it is, for `ferry config show --help` and the documentation.
    let summary: String
    /// Why a text is no value; `nil` when it is one.
    let problem: @Sendable (String) -> String?

    init(
        _ key: String, isList: Bool = false, default defaultText: String? = nil, profiles: [Profile: String] = [:],
        _ summary: String, problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.key = key
        self.isList = isList
        self.defaultText = defaultText
        self.profiles = profiles
        self.summary = summary
        self.problem = problem
    }
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
