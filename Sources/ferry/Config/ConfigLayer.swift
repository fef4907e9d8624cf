/// Where a value comes from, the strongest first.
enum ConfigOrigin: String, CaseIterable {
    case destination, flag, environment, file, profile
    case standard = "default"
}

/// The values that come from one place.
struct ConfigLayer {
    let origin: ConfigOrigin
    /// By the settings' keys.
    private var texts: [String: [String]] = [:]

    init(_ origin: ConfigOrigin, _ text: (Setting) -> String?) {
        self.origin = origin
        for setting in Settings.all {
            if let text = text(setting) { texts[setting.key] = setting.texts(text) }
        }
    }

    init(_ file: YAMLFile) {
        origin = .file
        for key in file.keys {
            guard let setting = Settings.named(key.name) else { continue }
            switch key.kind {
            case .value: texts[key.name] = key.values.first.map { setting.texts($0.text) }
            case .list: texts[key.name] = setting.isList ? key.values.map(\.text) : nil
            case .section: break
            }
        }
    }

    subscript(setting: Setting) -> [String]? { texts[setting.key] }
}

extension Setting {
    /// Returns a text as the setting's values: of a list's they stand between commas.
    fileprivate func texts(_ text: String) -> [String] {
        isList ? text.split(separator: ",").map { $0.trimmingBlanks } : [text]
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    var trimmingBlanks: String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
