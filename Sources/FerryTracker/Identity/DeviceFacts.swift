import FerrySpool
import Glibc

/// What the tracker says of the machine and the program with every event.
struct DeviceFacts: Equatable, Sendable {
    /// The anonymous id.
    var id: String
    var os: String
    var osVersion: String
    var kernel: String
    var architecture: String
    /// Where the machine tells it.
    var model: String?
    /// `en_US`.
    var locale: String?
    /// The zone's name, `Europe/Berlin`.
    var timeZone: String?
    /// Now, in minutes.
    var timeZoneOffset: Int
    var country: String?
    var app: String
    var appVersion: String?

    static let sdk = "ferry.swift"

    /// As a JSON object, in this order; what is unknown is left out.
    var json: [UInt8] {
        var line = LineBuffer()
        var isFirst = true
        func key(_ name: StaticString, _ line: inout LineBuffer) {
            line.append(isFirst ? "{\"" : ",\"")
            isFirst = false
            line.append(name)
            line.append("\":")
        }
        func add(_ name: StaticString, _ text: String?, _ line: inout LineBuffer) {
            guard let text else { return }
            key(name, &line)
            line.appendQuoted(text)
        }
        add("id", id, &line)
        add("os", os, &line)
        add("osVersion", osVersion, &line)
        add("kernel", kernel, &line)
        add("architecture", architecture, &line)
        add("model", model, &line)
        add("locale", locale, &line)
        add("country", country, &line)
        add("timeZone", timeZone, &line)
        key("timeZoneOffset", &line)
        line.append(timeZoneOffset)
        add("app", app, &line)
        add("appVersion", appVersion, &line)
        add("sdk", Self.sdk, &line)
        add("sdkVersion", FerryVersion.current, &line)
        line.append(UInt8(ascii: "}"))
        return Array(line.bytes)
    }

    /// Returns the language and country of a locale's name: `de_DE.UTF-8@euro` is `de_DE`, and `C` is none.
    static func locale(from name: String) -> String? {
        let plain = name.prefix { $0 != "." && $0 != "@" }
        return plain.isEmpty || plain == "C" || plain == "POSIX" ? nil : String(plain)
    }

    /// Returns the country in a locale.
    static func country(of locale: String?) -> String? {
        guard let locale, let separator = locale.firstIndex(of: "_") else { return nil }
        return String(locale[locale.index(after: separator)...])
    }

    /// Returns two letters in upper case; `nil` when a text is not two of ASCII's.
    static func countryCode(_ text: String) -> String? {
        let isCode = text.utf8.count == 2 && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        return isCode ? text.uppercased() : nil
    }

    /// Returns a value of `/etc/os-release`, whose quotes are as a shell's.
    static func value(of key: String, in osRelease: String) -> String? {
        for line in osRelease.split(whereSeparator: \.isNewline) where line.hasPrefix(key + "=") {
            let value = line.dropFirst(key.count + 1)
            guard let quote = value.first, quote == "\"" || quote == "'", value.count >= 2 else { return String(value) }
            return String(value.dropFirst().dropLast())
        }
        return nil
    }
}
