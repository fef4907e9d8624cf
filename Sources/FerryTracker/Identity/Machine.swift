import FerrySpool
import Glibc

/// Asks the machine what ``DeviceFacts`` tells.
enum Machine {
    static func facts(id: String, _ configuration: TrackerConfiguration) -> DeviceFacts {
        let osRelease = text(of: "/etc/os-release") ?? text(of: "/usr/lib/os-release") ?? ""
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first.flatMap(DeviceFacts.locale)
        let kernel = kernel()
        return DeviceFacts(
            id: id, os: DeviceFacts.value(of: "NAME", in: osRelease) ?? "Linux",
            osVersion: DeviceFacts.value(of: "VERSION_ID", in: osRelease) ?? kernel.release, kernel: kernel.release,
            architecture: kernel.architecture, model: model, locale: locale, timeZone: timeZone, timeZoneOffset: timeZoneOffset,
            country: configuration.countryCode ?? DeviceFacts.country(of: locale), app: configuration.appName ?? program,
            appVersion: configuration.appVersion)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Returns the first line of a small file; `nil` when there is none or it is empty.
    private static func line(of path: String) -> String? {
        text(of: path)?.split { $0.isNewline || $0 == "\0" }.first.map(String.init)
    }

    private static func text(of path: String) -> String? {
        (try? OpenFile.reading(path).readBytes(1 << 14, at: 0)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The firmware's word on PCs, the device tree's on boards.
    private static var model: String? {
        line(of: "/sys/devices/virtual/dmi/id/product_name") ?? line(of: "/proc/device-tree/model")
    }

    private static func kernel() -> (release: String, architecture: String) {
        var names = utsname()
        uname(&names)
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return (text(names.release), text(names.machine))
    }

    private static var timeZone: String? {
        if let name = variable("TZ") { return name.hasPrefix(":") ? String(name.dropFirst()) : name }
        let target = target(ofLink: "/etc/localtime")
        if let range = target.firstRange(of: "zoneinfo/") { return String(target[range.upperBound...]) }
        return line(of: "/etc/timezone")
    }

    /// What is to be added to UTC now, in minutes: it changes with the summer time.
    static var timeZoneOffset: Int {
        var now = time(nil)
        var fields = tm()
        localtime_r(&now, &fields)
        return fields.tm_gmtoff / 60
    }

    private static var program: String {
        target(ofLink: "/proc/self/exe").split(separator: "/").last.map(String.init) ?? "unknown"
    }

    /// Returns the target of a symbolic link; empty when the path is none.
    private static func target(ofLink path: String) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
