/// One setting of `ferry run`: its key, what its value must look like, and where its default comes from.
struct Setting: Sendable {
    let key: String
    /// Several values, as a YAML list or separated by commas.
    let isList: Bool
    /// `nil`: nothing unless it is set.
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

    /// Returns why a text is no value, in words; `nil` when it is one.
    ///
    /// - Parameter name: What the user calls the setting.
    func mistake(in text: String, of name: String) -> String? {
        problem(text).map { problem in
            let shown = ShownValue.of(text, self)
            // Some problems name the text themselves.
            if problem.hasPrefix("'\(shown)'") { return "\(name): \(problem)" }
            let link = problem.hasPrefix("must ") || problem.hasPrefix("is ") ? " " : ": "
            return "\(name) '\(shown)'\(link)\(problem)"
        }
    }
}
