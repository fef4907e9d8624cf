import FerrySpool

/// Prints every effective value and where it comes from.
enum ConfigListing {
    /// Returns a table of the settings with their values and where these are from.
    ///
    /// - Parameter explains: Also what each setting is.
    static func lines(_ configuration: RunConfiguration, explains: Bool) -> [String] {
        var table = Table(["SETTING", "VALUE", "FROM"] + (explains ? ["WHAT IT IS"] : []))
        for setting in Settings.all {
            let value = configuration.values[setting.key]
            table.add(
                [
                    setting.key, value.map { $0.texts.map { ShownValue.of($0, setting) }.joined(separator: ", ") } ?? "-",
                    value?.origin.rawValue ?? "-",
                ]
                    + (explains ? [setting.summary] : []))
        }
        return table.lines
    }

    static func json(_ configuration: RunConfiguration) throws -> String {
        struct Line: Encodable {
            let setting: String
            let values: [String]
            let from: String?
            let summary: String
        }
        return try Settings.all.map { setting in
            let value = configuration.values[setting.key]
            return Line(
                setting: setting.key, values: (value?.texts ?? []).map { ShownValue.of($0, setting) },
                from: value?.origin.rawValue, summary: setting.summary)
        }.jsonLine()
    }
}
