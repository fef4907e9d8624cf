import FerrySpool
import FerryUpload

/// All settings with their effective values, gathered from flags, environment, file, profile and defaults.
struct RunConfiguration {
    struct Value {
        let texts: [String]
        let origin: ConfigOrigin
    }

    private(set) var values: [String: Value] = [:]
    private(set) var problems: [ConfigProblem] = []
    /// What stops nothing: settings under a name of an earlier version, and variables that are no settings.
    private(set) var warnings: [ConfigProblem] = []
    /// What `ferry run` cannot do without.
    private(set) var missing: [ConfigProblem] = []
    /// Several destinations; empty: there is one, `to`.
    private(set) var sections = DestinationSections(nil, flags: [:])
    /// The one of them whose settings these are; `nil`: what holds for all.
    private let destination: LaneName?

    /// - Parameters:
    ///   - flags: `key=value`, as given to `--set` and its like.
    ///   - path: The YAML file.
    ///   - destination: The one of several whose settings are asked for.
    init(flags: [String], path: String?, environment: [String: String], destination: LaneName? = nil) {
        self.destination = destination
        var file: YAMLFile?
        if let path {
            do throws(GivenFileError) {
                file = try YAMLFile(path)
            } catch {
                let isOfEnvironment = environment["FERRY_CONFIG"] == path
                problems.append(
                    .init(place: isOfEnvironment ? .environment("FERRY_CONFIG") : .flag("config"), error.description))
            }
        }
        problems += file?.problems ?? []
        warnings += file?.formerNames ?? []
        let environment = renamed(environment)
        let given = flagValues(flags)
        sections = DestinationSections(file, flags: given.filter { DestinationSections.has($0.key) })
        problems += sections.problems + sections.contradictions
        checkEnvironment(environment)
        if let file { checkKeys(of: file) }
        // Of a file with problems nothing counts: a part of it may mean something else than all.
        let fileLayer = file.flatMap { $0.problems.isEmpty ? ConfigLayer($0) : nil }
        var layers = [
            ConfigLayer(.flag) { given[$0.key] },
            ConfigLayer(.environment) { environment[Self.variable($0.key)] },
        ]
        if let fileLayer { layers.append(fileLayer) }
        if let destination { layers.insert(sections.layer(of: destination), at: 0) }
        let standard = ConfigLayer(.standard) { $0.defaultText }
        let profile = Settings.named("profile").flatMap { Self.lookUp($0, layers)?.texts.first }.flatMap(Profile.init) ?? .ferry
        layers += [ConfigLayer(.profile) { $0.profiles[profile] }, standard]
        for setting in Settings.all {
            guard let value = Self.lookUp(setting, layers) else { continue }
            values[setting.key] = value
            for (index, text) in value.texts.enumerated() {
                guard let mistake = setting.mistake(in: text, of: setting.key) else { continue }
                problems.append(.init(place: place(of: setting, index, value.origin, file), mistake))
            }
        }
        if values["spools"] == nil, let spool = environment["FERRY_SPOOL"], !spool.isEmpty {
            values["spools"] = Value(texts: [spool], origin: .environment)
        }
        self.file = file
        // What could not be read may well have said it.
        if path == nil || fileLayer != nil { checkTogether() }
        problems = ConfigurationError(problems: problems).problems
    }

    private var file: YAMLFile?
    /// Flags and variables with names of an earlier version, by the settings' keys.
    private var formerFlags: [String: String] = [:]
    private var formerVariables: [String: String] = [:]

    /// Returns where a value stands.
    func place(of key: String, _ index: Int) -> ConfigProblem.Place {
        guard let setting = Settings.named(key), let value = values[key] else { return .nowhere }
        return place(of: setting, index, value.origin, file)
    }

    private static func lookUp(_ setting: Setting, _ layers: [ConfigLayer]) -> Value? {
        for layer in layers {
            if let texts = layer[setting] { return Value(texts: texts, origin: layer.origin) }
        }
        return nil
    }

    private mutating func flagValues(_ flags: [String]) -> [String: String] {
        var values: [String: String] = [:]
        var current: Set<String> = []
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                problems.append(.init(place: .flag(flag), "must be like interval=15s"))
                continue
            }
            var name = parts[0]
            if let known = FormerName(name) {
                warnings.append(.init(place: .flag(name), "\(known)"))
                if current.contains(known.current) {
                    problems.append(.init(place: .flag(name), "'\(known.current)' is set as well: keep that one"))
                }
                name = known.current
                formerFlags[name] = known.former
            } else {
                current.insert(name)
                if let former = formerFlags[name] {
                    problems.append(.init(place: .flag(former), "'\(name)' is set as well: keep that one"))
                }
            }
            if Settings.named(name) == nil, !DestinationSections.has(name) {
                problems.append(.init(place: .flag(flag), Self.unknown(name)))
            }
            values[name] = parts[1]
        }
        return values
    }

    /// Returns the name of a setting's variable.
    static func variable(_ key: String) -> String {
        "FERRY_" + String(key.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Returns the environment with former names of settings as the current ones.
    private mutating func renamed(_ environment: [String: String]) -> [String: String] {
        var environment = environment
        for setting in Settings.all {
            guard let former = FormerName(of: setting.key) else { continue }
            let (old, new) = (Self.variable(former.former), Self.variable(former.current))
            guard let value = environment.removeValue(forKey: old) else { continue }
            warnings.append(.init(place: .environment(old), "it is \(new) now; the old name still works"))
            guard environment[new] == nil else {
                problems.append(.init(place: .environment(old), "\(new) is set as well: keep that one"))
                continue
            }
            environment[new] = value
            formerVariables[setting.key] = old
        }
        return environment
    }

    private mutating func checkEnvironment(_ environment: [String: String]) {
        // Ferry's own, which are no settings of `ferry run`.
        var known: Set<String> = ["FERRY_SPOOL", "FERRY_CONFIG", "FERRY_LIBRARY"]
        for setting in Settings.all { known.insert(Self.variable(setting.key)) }
        for name in environment.keys.sorted() where name.hasPrefix("FERRY_") && !known.contains(name) {
            let near = NearestWord.nearest(to: name, among: known.sorted())
            // Other programs may begin the names of theirs in the same way.
            warnings.append(
                .init(place: .environment(name), "is no setting, and ignored" + (near.map { "; did you mean \($0)?" } ?? "")))
        }
    }

    private mutating func checkKeys(of file: YAMLFile) {
        for key in file.keys where !DestinationSections.has(key.name) {
            let isPrefix = Settings.all.contains { $0.key.hasPrefix(key.name + ".") }
            if key.kind == .section {
                if let setting = Settings.named(key.name) {
                    let form = setting.isList ? "a list, like [a, b]" : "one value"
                    problems.append(.init(place: .line(file.path, key.line), "'\(key.name)' takes \(form), and no keys below it"))
                } else if !isPrefix {
                    problems.append(.init(place: .line(file.path, key.line), Self.unknown(key.name)))
                }
                continue
            }
            // An unknown section was reported already.
            let section = key.name.split(separator: ".").dropLast().joined(separator: ".")
            if !section.isEmpty, !Settings.all.contains(where: { $0.key.hasPrefix(section + ".") }) { continue }
            guard let setting = Settings.named(key.name) else {
                let message = isPrefix ? "'\(key.name)' needs keys below it" : Self.unknown(key.name)
                problems.append(.init(place: .line(file.path, key.line), message))
                continue
            }
            if key.kind == .list, !setting.isList {
                problems.append(.init(place: .line(file.path, key.line), "\(key.name) takes one value, not a list"))
            }
        }
    }

    private static func unknown(_ key: String) -> String {
        let near = NearestWord.nearest(to: key, among: Settings.all.map(\.key))
        return "'\(key)' is no setting" + (near.map { "; did you mean '\($0)'?" } ?? "; ferry config show lists all")
    }

    private func place(of setting: Setting, _ index: Int, _ origin: ConfigOrigin, _ file: YAMLFile?) -> ConfigProblem.Place {
        switch origin {
        case .flag: return .flag(formerFlags[setting.key] ?? setting.key)
        case .environment: return .environment(formerVariables[setting.key] ?? Self.variable(setting.key))
        case .file:
            guard let file, let key = file.keys.last(where: { $0.name == setting.key }) else { return .nowhere }
            return .line(file.path, index < key.values.count ? key.values[index].line : key.line)
        case .destination, .profile, .standard: return .nowhere
        }
    }

    /// Checks the interval against the bounds of the profile's SDK.
    private mutating func checkInterval() {
        let profile = values["profile"]?.texts.first.flatMap(Profile.init)
        guard let bounds = profile?.intervalBounds, let value = values["interval"], let text = value.texts.first,
            let interval = Settings.parsedInterval(text)
        else { return }
        do throws(IntervalError) {
            let bounded = try bounds.bounded(interval)
            // A length that is raised is shown as it counts.
            guard bounded != interval, bounded > .zero else { return }
            values["interval"] = Value(texts: ["\(bounded.components.seconds)s"], origin: value.origin)
        } catch {
            problems.append(.init(place: place(of: "interval", 0), "\(error) with profile \(profile?.rawValue ?? "")"))
        }
    }

    private mutating func checkDashboard() {
        let token = values["dashboard.token-file"]?.texts.first
        guard let text = values["dashboard.listen"]?.texts.first, text != "off" else {
            if token != nil {
                problems.append(
                    .init(place: place(of: "dashboard.token-file", 0), "'dashboard.token-file' goes with 'dashboard.listen'"))
            }
            return
        }
        let problem = ListenAddress(parsing: text)?.pageProblem(
            hasToken: token != nil, option: "'dashboard.listen'", tokenOption: "'dashboard.token-file'")
        if let problem { problems.append(.init(place: place(of: "dashboard.listen", 0), problem)) }
    }

    private mutating func checkTogether() {
        if destination == nil, !sections.isEmpty {
            if values["to"] != nil {
                problems.append(
                    .init(place: place(of: "to", 0), "'to' and 'destinations' both say where to send: keep one of the two"))
            }
        } else if values["to"] == nil {
            missing.append(.init(place: .nowhere, "'to' is missing: where to send"))
        }
        if values["spools"]?.texts.isEmpty ?? true {
            missing.append(.init(place: .nowhere, "'spools' is missing: which folders to send from"))
        }
        if (values["tls.cert"] == nil) != (values["tls.key"] == nil) {
            problems.append(.init(place: .nowhere, "'tls.cert' and 'tls.key' belong together"))
        }
        checkInterval()
        checkDashboard()
        let body = values["body"]?.texts.first ?? "ndjson"
        if body == "measurement", values["tracking-id"] == nil {
            problems.append(.init(place: place(of: "body", 0), "'body: measurement' needs 'tracking-id', the property's ID"))
        }
        for key in ["request-events", "request-bytes"] where body == "ndjson" {
            guard let value = values[key], value.origin != .profile, value.origin != .standard else { continue }
            problems.append(
                .init(place: place(of: key, 0), "'\(key)' needs another 'body' than ndjson, which is the segment as it is"))
        }
        let destination = values["to"]?.texts.first.flatMap { try? Destination.check($0) }
        if body != "ndjson", let destination, destination.takesSegmentsOnly {
            problems.append(.init(place: place(of: "body", 0), "'to' takes segments as they are: leave 'body' out"))
        }
        if body == "elastic", values["request-events"]?.texts.first == "off" || destination?.url.namesSegment ?? false {
            let key = values["request-events"]?.texts.first == "off" ? "request-events" : "to"
            problems.append(.init(place: place(of: key, 0), "'body: elastic' needs a limit of events: \(BodyForm.whyLimited)"))
        }
        for key in ["request-events", "request-bytes"] where body != "ndjson" && destination?.url.namesSegment ?? false {
            guard let value = values[key], value.origin != .profile, value.origin != .standard, value.texts.first != "off" else {
                continue
            }
            problems.append(
                .init(
                    place: place(of: key, 0),
                    "'\(key)' cuts segments into parts; 'to' with {segment} or {id} has one place for all of them: leave out one of the two"
                ))
        }
        if body != "ndjson", let coalesce = values["coalesce"], coalesce.origin != .standard,
            coalesce.texts.first != "off"
        {
            problems.append(
                .init(
                    place: place(of: "coalesce", 0), "'coalesce' joins segments as they are; it does not go with 'body: \(body)'")
            )
        }
    }
}
