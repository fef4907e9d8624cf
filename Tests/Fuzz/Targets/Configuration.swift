import FerrySpool
import FerryUpload

@testable import ferry

extension FuzzTarget {
    /// Configuration files of `ferry run`.
    static let configuration = FuzzTarget("configuration", longest: 2048) { bytes in
        let memory = try FileInMemory(bytes)
        // Settings are looked up in milliseconds, which only a file with some is worth.
        let file = try memory.use { path in try YAMLFile(path) }
        try expect(file.problems.allSatisfy { !$0.description.isEmpty }, "a mistake has a description")
        guard file.problems.isEmpty, file.keys.contains(where: { Settings.named($0.name) != nil }) else { return }
        let configuration = memory.use { RunConfiguration(flags: [], path: $0, environment: [:]) }
        for problem in configuration.problems + configuration.missing {
            try expect(!problem.description.isEmpty, "a mistake has a description")
        }
        try expect(!ConfigListing.lines(configuration, explains: true).isEmpty, "settings can be listed")
        _ = try ConfigListing.json(configuration)
        guard configuration.problems.isEmpty else { return }
        let values = ConfigValues(configuration)
        for setting in Settings.all {
            guard let text = values.text(setting.key) else { continue }
            try expect(setting.problem(text) == nil, "a value without a mistake has no problem")
        }
        try expectRead(values)
    }

    /// Values of settings, wherever they come from: `KEY=VALUE` lines.
    static let settings = FuzzTarget("settings", longest: 300) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let setting = Settings.named(parts[0]), !setting.key.hasSuffix("-file") else {
                _ = NearestWord.nearest(to: String(line), among: Settings.all.map(\.key))
                continue
            }
            if setting.key.hasPrefix("tls.") { continue }
            guard setting.problem(parts[1]) == nil else { continue }
            // A list is cut and trimmed first: what is a value by itself need not be one in it.
            let configuration = RunConfiguration(flags: [String(line)], path: nil, environment: [:])
            if configuration.problems.isEmpty { try expectRead(ConfigValues(configuration)) }
        }
        if let address = ListenAddress(parsing: text) { try expect((0...65_535).contains(address.port), "a port is one") }
        if let header = try? HeaderText.parse(text, from: "a line") {
            try expect((header.name + header.value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a header is one line")
            try expect(!header.name.isEmpty, "a header has a name")
        }
    }

    /// What was found to be without mistakes can be read as what it is.
    private static func expectRead(_ values: ConfigValues) throws {
        func expectValue<Value>(_ key: String, _ read: (String) -> Value?) throws {
            if let text = values.text(key) { try expect(read(text) != nil, "\(key) reads '\(text)'") }
        }
        for key in ["timeout", "connect-timeout", "critical-delay", "max-spool-age"] {
            try expectValue(key) { Duration(parsing: $0) }
        }
        for key in ["threshold.bytes", "inflate-limit", "max-spool-bytes", "sent.max-bytes"] {
            try expectValue(key) { ByteCount(parsing: $0).flatMap { $0 > .zero ? $0 : nil } }
        }
        try expectValue("coalesce") { CoalescePolicy(parsing: $0) }
        for key in ["parallel", "threshold.events", "back-off.reject-after"] {
            try expectValue(key) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
        }
        try expectValue("interval") { Settings.parsedInterval($0) }
        try expectValue("back-off.jitter") { Settings.parsedJitter($0) }
        try expectValue("bandwidth") { BandwidthTimetable(parsing: $0, zone: values.zone("timezone")) }
        try expectValue("window") { UploadWindows(parsing: $0, zone: values.zone("timezone")) }
        try expectValue("due.time") { DayTime(parsing: $0) }
        try expectValue("metrics.listen") { ListenAddress(parsing: $0) }
        try expectValue("to") { try? DestinationURL($0) }
        for text in values.list("headers") { _ = try HeaderText.parse(text, from: "headers") }
        _ = values.sentRetention
    }
}
