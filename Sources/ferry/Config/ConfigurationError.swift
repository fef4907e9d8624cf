/// Everything that is wrong with a configuration.
struct ConfigurationError: Error {
    let problems: [ConfigProblem]

    /// In the order of the file's lines; what stands in no line goes first.
    init(problems: [ConfigProblem]) {
        let ordered = problems.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        self.problems = ordered.map(\.element)
    }
}
