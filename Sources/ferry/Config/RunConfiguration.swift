import Configuration
import FerrySpool
import FerryUpload

/// Where a value comes from, the strongest first.
enum ConfigOrigin: String, CaseIterable {
    case flag, environment, file, profile
    case standard = "default"
}

/// All settings with their effective values, gathered from flags, environment, file, profile and defaults.
struct RunConfiguration {
    struct Value {
        let texts: [String]
        let origin: ConfigOrigin
    }

    private(set) var values: [String: Value] = [:]
    private(set) var problems: [ConfigProblem] = []
    /// What `ferry run` cannot do without.
    private(set) var missing: [ConfigProblem] = []

    /// - Parameters:
    ///   - flags: `key=value`, as given to `--set` and its like.
    ///   - path: The YAML file.
    init(flags: [String], path: String?, environment: [String: String]) {
        var file: YAMLFile?
        if let path {
            do throws(GivenFileError) {
                file = try YAMLFile(path)
            } catch {
                problems.append(.init(place: .nowhere, error.description))
            }
        }
        problems += file?.problems ?? []
        let given = flagValues(flags)
        checkEnvironment(environment)
        if let file { checkKeys(of: file) }
        let fileLayer = file.flatMap { self.layer(of: $0) }
        var layers = Self.layers(given, environment, fileLayer)
        let profile = Self.lookUp("profile", isList: false, layers).flatMap { $0.texts.first.flatMap(Profile.init) } ?? .ferry
        layers.insert(.init(.profile, Self.provider("profile") { $0.profiles[profile] }), at: layers.count - 1)
        for setting in Settings.all {
            guard let value = Self.lookUp(setting.key, isList: setting.isList, layers) else { continue }
            values[setting.key] = value
            for (index, text) in value.texts.enumerated() {
                guard let problem = setting.problem(text) else { continue }
                let link = problem.hasPrefix("must ") || problem.hasPrefix("is ") ? " " : ": "
                problems.append(
                    .init(place: place(of: setting, index, value.origin, file), "\(setting.key) '\(text)'\(link)\(problem)"))
            }
        }
        if values["spools"] == nil, let spool = environment["FERRY_SPOOL"], !spool.isEmpty {
            values["spools"] = Value(texts: [spool], origin: .environment)
        }
        self.file = file
        // What could not be read may well have said it.
        if path == nil || fileLayer != nil { checkTogether() }
    }

    private var file: YAMLFile?

    /// Where a value stands.
    func place(of key: String, _ index: Int) -> ConfigProblem.Place {
        guard let setting = Settings.named(key), let value = values[key] else { return .nowhere }
        return place(of: setting, index, value.origin, file)
    }

    private struct Layer {
        let origin: ConfigOrigin
        let lookUp: @Sendable (AbsoluteConfigKey, ConfigType) throws -> LookupResult

        init(_ origin: ConfigOrigin, _ provider: any ConfigProvider) {
            self.origin = origin
            lookUp = { try provider.value(forKey: $0, type: $1) }
        }

        init(_ origin: ConfigOrigin, _ snapshot: some ConfigSnapshot) {
            self.origin = origin
            lookUp = { try snapshot.value(forKey: $0, type: $1) }
        }
    }

    private static func layers(_ flags: [String: String], _ environment: [String: String], _ file: Layer?) -> [Layer] {
        var layers = [
            Layer(.flag, provider("flag") { flags[$0.key] }),
            Layer(.environment, EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "ferry")),
        ]
        if let file { layers.append(file) }
        layers.append(Layer(.standard, provider("default") { $0.defaultText }))
        return layers
    }

    /// The values of a file; `nil`, and a problem, when it has any: a part of them may mean something else than all.
    private mutating func layer(of file: YAMLFile) -> Layer? {
        guard file.problems.isEmpty else { return nil }
        // A file without keys, of comments say, is none to the library.
        guard !file.keys.isEmpty else { return Layer(.file, InMemoryProvider(name: file.path, values: [:])) }
        do {
            return Layer(.file, try YAMLSnapshot(data: file.bytes.span.bytes, providerName: file.path, parsingOptions: .default))
        } catch {
            problems.append(.init(place: .file(file.path), "cannot be understood: \(error)"))
            return nil
        }
    }

    private static func provider(_ name: String, _ text: (Setting) -> String?) -> InMemoryProvider {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in Settings.all {
            if let text = text(setting) { values[key(setting.key)] = ConfigValue(.string(text), isSecret: false) }
        }
        return InMemoryProvider(name: name, values: values)
    }

    private static func key(_ text: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(text.split(separator: ".").map(String.init))
    }

    private static func lookUp(_ name: String, isList: Bool, _ layers: [Layer]) -> Value? {
        let key = key(name)
        for layer in layers {
            if isList, case .stringArray(let texts)? = try? layer.lookUp(key, .stringArray).value?.content {
                return Value(texts: texts, origin: layer.origin)
            }
            guard case .string(let text)? = try? layer.lookUp(key, .string).value?.content else { continue }
            let texts = isList ? text.split(separator: ",").map { $0.trimmingBlanks } : [text]
            return Value(texts: texts, origin: layer.origin)
        }
        return nil
    }

    private mutating func flagValues(_ flags: [String]) -> [String: String] {
        var values: [String: String] = [:]
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                problems.append(.init(place: .flag(flag), "must be like interval=15s"))
                continue
            }
            if Settings.named(parts[0]) == nil { problems.append(.init(place: .flag(flag), Self.unknown(parts[0]))) }
            values[parts[0]] = parts[1]
        }
        return values
    }

    /// The name of a setting's variable.
    static func variable(_ key: String) -> String {
        "FERRY_" + String(key.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    private mutating func checkEnvironment(_ environment: [String: String]) {
        // Ferry's own, which are no settings of `ferry run`.
        var known: Set<String> = ["FERRY_SPOOL", "FERRY_CONFIG", "FERRY_LIBRARY"]
        for setting in Settings.all { known.insert(Self.variable(setting.key)) }
        for name in environment.keys.sorted() where name.hasPrefix("FERRY_") && !known.contains(name) {
            let near = Spelling.nearest(to: name, among: known.sorted())
            problems.append(.init(place: .environment(name), "is no setting" + (near.map { "; did you mean \($0)?" } ?? "")))
        }
    }

    private mutating func checkKeys(of file: YAMLFile) {
        for key in file.keys {
            let isPrefix = Settings.all.contains { $0.key.hasPrefix(key.name + ".") }
            if key.isSection {
                if let setting = Settings.named(key.name) {
                    let form = setting.isList ? "a list, like [a, b]" : "one value"
                    problems.append(.init(place: .line(file.path, key.line), "'\(key.name)' takes \(form), and no keys below it"))
                } else if !isPrefix {
                    problems.append(.init(place: .line(file.path, key.line), Self.unknown(key.name)))
                }
                continue
            }
            // An unknown section was told already.
            let section = key.name.split(separator: ".").dropLast().joined(separator: ".")
            if !section.isEmpty, !Settings.all.contains(where: { $0.key.hasPrefix(section + ".") }) { continue }
            guard let setting = Settings.named(key.name) else {
                let message = isPrefix ? "'\(key.name)' needs keys below it" : Self.unknown(key.name)
                problems.append(.init(place: .line(file.path, key.line), message))
                continue
            }
            if !setting.isList, key.values.count != 1 {
                problems.append(.init(place: .line(file.path, key.line), "\(key.name) takes one value, not a list"))
            }
        }
    }

    private static func unknown(_ key: String) -> String {
        let near = Spelling.nearest(to: key, among: Settings.all.map(\.key))
        return "'\(key)' is no setting" + (near.map { "; did you mean '\($0)'?" } ?? "; ferry config show lists all")
    }

    private func place(of setting: Setting, _ index: Int, _ origin: ConfigOrigin, _ file: YAMLFile?) -> ConfigProblem.Place {
        switch origin {
        case .flag: return .flag(setting.key)
        case .environment: return .environment(Self.variable(setting.key))
        case .file:
            guard let file, let key = file.keys.last(where: { $0.name == setting.key }) else { return .nowhere }
            return .line(file.path, index < key.values.count ? key.values[index].line : key.line)
        case .profile, .standard: return .nowhere
        }
    }

    /// The profile's SDK has bounds.
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

    private mutating func checkTogether() {
        if values["to"] == nil { missing.append(.init(place: .nowhere, "'to' is missing: where to send")) }
        if values["spools"]?.texts.isEmpty ?? true {
            missing.append(.init(place: .nowhere, "'spools' is missing: which folders to send from"))
        }
        if (values["tls.cert"] == nil) != (values["tls.key"] == nil) {
            problems.append(.init(place: .nowhere, "'tls.cert' and 'tls.key' belong together"))
        }
        checkInterval()
        let body = values["body"]?.texts.first ?? "ndjson"
        if body == "measurement", values["tracking-id"] == nil {
            problems.append(.init(place: place(of: "body", 0), "'body: measurement' needs 'tracking-id', the property's ID"))
        }
        for key in ["request-events", "request-bytes"] where body == "ndjson" {
            guard let value = values[key], value.origin != .profile, value.origin != .standard else { continue }
            problems.append(
                .init(place: place(of: key, 0), "'\(key)' needs another 'body' than ndjson, which is the segment as it is"))
        }
        let destination = values["to"]?.texts.first.flatMap { try? DestinationURL($0) }
        for key in ["request-events", "request-bytes"] where body != "ndjson" && destination?.namesSegment ?? false {
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

extension StringProtocol {
    /// Without spaces at its ends.
    var trimmingBlanks: String {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
