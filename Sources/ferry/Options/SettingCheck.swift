import ArgumentParser

/// Checks values of options by the rules of the settings that they stand for.
enum SettingCheck {
    static func require(_ text: String, as key: String, by option: String) throws(ValidationError) {
        guard let mistake = Settings.named(key)?.mistake(in: text, of: option) else { return }
        throw ValidationError(mistake)
    }
}
