import FerrySpool
import FerryUpload

/// What a configuration says of several destinations: its sections `destinations` and `routes`.
struct DestinationSections {
    private struct Entry {
        let name: LaneName
        let key: String
        let texts: [(text: String, place: ConfigProblem.Place)]
        let isList: Bool
        let place: ConfigProblem.Place
    }

    private var settings: [Entry] = []
    private var rules: [Entry] = []
    private(set) var problems: [ConfigProblem] = []

    /// Settings that are the uploader's as a whole.
    private static let shared: Set<String> = [
        "profile", "spools", "interval", "threshold.events", "threshold.bytes", "critical-delay", "metrics.listen",
        "metrics.file", "dashboard.listen", "dashboard.token-file",
        "log-format",
    ]
    /// What only destinations have.
    static let ownSettings = [
        Setting(
            "required", default: "true",
            "Whether a segment must be in this lane before it leaves its folder; false: best effort.",
            problem: Settings.oneOf(["true", "false"])),
        Setting(
            "max-lag", "With required: false, what waits longer is dropped; 1d if nothing is said.",
            problem: Settings.positive),
    ]
    /// What says which segments are for a destination.
    static let ruleSettings = [
        Setting("streams", isList: true, "Streams: names with * and ?; default stands for none."),
        Setting("priorities", "One priority, or a range: 0-3.", problem: { priorities($0) == nil ? "must be like 0-3" : nil }),
        Setting("spools", isList: true, "Spools: names of folders, or their paths, with * and ?."),
    ]

    /// - Parameter flags: By key.
    init(_ file: YAMLFile?, flags: [String: String]) {
        for key in file?.keys ?? [] {
            let place = ConfigProblem.Place.line(file?.path ?? "", key.line)
            add(
                key.name, key.values.map { ($0.text, .line(file?.path ?? "", $0.line)) }, isList: key.kind == .list,
                isSection: key.kind == .section, place)
        }
        for (key, text) in flags.sorted(by: { $0.key < $1.key }) {
            add(key, [(text, .flag(key))], isList: false, isSection: false, .flag(key))
        }
        for entry in rules where !names.contains(entry.name) {
            problems.append(.init(place: entry.place, "'routes.\(entry.name)': there is no destination of that name"))
        }
    }

    /// Returns whether a key belongs to the sections.
    static func has(_ key: String) -> Bool {
        ["destinations", "routes"].contains { key == $0 || key.hasPrefix($0 + ".") }
    }

    /// The destinations, in the order of their names.
    var names: [LaneName] { Set(settings.map(\.name)).sorted() }

    var isEmpty: Bool { settings.isEmpty }

    /// Returns what is said of a destination with the uploader's settings.
    func layer(of name: LaneName) -> ConfigLayer {
        ConfigLayer(.destination) { setting in texts(setting, of: name, in: settings)?.joined(separator: ",") }
    }

    /// Returns a destination as a lane.
    func lane(_ name: LaneName) -> Lane {
        func rule(_ index: Int) -> [String] { texts(Self.ruleSettings[index], of: name, in: rules) ?? [] }
        return Lane(
            name, isRequired: isRequired(name), streams: rule(0), priorities: rule(1).first.flatMap(Self.priorities) ?? 0...9,
            spools: rule(2))
    }

    /// Returns how long segments wait at most in a lane that is not required; `nil`: as long as it takes.
    func maxLag(_ name: LaneName) -> Duration? {
        isRequired(name)
            ? nil
            : texts(Self.ownSettings[1], of: name, in: settings)?.first.flatMap { Duration(parsing: $0) } ?? .seconds(86_400)
    }

    private func isRequired(_ name: LaneName) -> Bool {
        texts(Self.ownSettings[0], of: name, in: settings)?.first != "false"
    }

    private func texts(_ setting: Setting, of name: LaneName, in entries: [Entry]) -> [String]? {
        entries.last { $0.name == name && $0.key == setting.key }.map { entry in
            entry.isList || !setting.isList
                ? entry.texts.map(\.text) : entry.texts.flatMap { $0.text.split(separator: ",").map(\.trimmingBlanks) }
        }
    }

    static func priorities(_ text: String) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last,
            first >= 0, last <= 9
        else { return nil }
        return first...last
    }

    private mutating func add(
        _ key: String, _ texts: [(text: String, place: ConfigProblem.Place)], isList: Bool, isSection: Bool,
        _ place: ConfigProblem.Place
    ) {
        guard Self.has(key) else { return }
        let parts = key.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1 else {
            if !isSection { problems.append(.init(place: place, "'\(key)' needs a name below it for each destination")) }
            return
        }
        guard let name = LaneName(parts[1]) else {
            if isSection || parts.count == 2 || !place.isLine {
                problems.append(.init(place: place, "'\(parts[1])' is no name of a destination: \(LaneName.rule)"))
            }
            return
        }
        if isSection { return }
        let isRoute = parts[0] == "routes"
        // `hub: https://…` is short for its URL.
        let last = parts.count > 2 ? parts[2] : "to"
        guard parts.count > 2 || !isRoute else {
            return problems.append(.init(place: place, "'\(key)' needs streams, priorities or spools below it"))
        }
        let known = isRoute ? Self.ruleSettings : Self.ownSettings + Settings.all.filter { !Self.shared.contains($0.key) }
        guard let setting = known.first(where: { $0.key == last }) else {
            let near = NearestWord.nearest(to: last, among: known.map(\.key))
            let why = !isRoute && Self.shared.contains(last) ? "is set for all destinations" : "is no setting of a destination"
            return problems.append(
                .init(
                    place: place,
                    "'\(last)' \(isRoute ? "is none of a route's" : why)" + (near.map { "; did you mean '\($0)'?" } ?? "")))
        }
        let entry = Entry(name: name, key: last, texts: texts, isList: isList, place: place)
        if isList, !setting.isList { problems.append(.init(place: place, "\(last) takes one value, not a list")) }
        for (text, place) in texts {
            let each = isList || !setting.isList ? [text] : text.split(separator: ",").map(\.trimmingBlanks)
            for text in each {
                if let mistake = setting.mistake(in: text, of: last) { problems.append(.init(place: place, mistake)) }
            }
        }
        if isRoute { rules.append(entry) } else { settings.append(entry) }
    }

    /// What is wrong with settings that belong together.
    var contradictions: [ConfigProblem] {
        settings.filter { $0.key == "max-lag" && isRequired($0.name) }.map {
            .init(place: $0.place, "'max-lag' drops what waits longer: it needs 'required: false'")
        }
    }
}

extension ConfigProblem.Place {
    fileprivate var isLine: Bool {
        if case .line = self { return true }
        return false
    }
}
