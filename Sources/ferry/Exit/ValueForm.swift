/// What a value of an option must look like, by what the parser's message calls the option. How values are written, the parser does not know.
enum ValueForm {
    private static let duration = "a duration is like 250ms, 90s, 5m or 1h30m, at most 36525d"
    private static let number = "it must be a whole number, like 1 or 500"

    /// By the ends of messages; the first that fits counts.
    private static let forms = [
        ("<duration|forever>'", "it must be 1d or more, or forever"), ("<duration>'", duration), ("<interval>'", duration),
        ("--deadline'", duration), ("--deadline-margin'", duration),
        ("<size>'", "a size is like 500KB, 10MB or 1GiB, more than 0 and less than 9 EB"),
        ("<auto|off|size>'", "it must be auto, off or a size up to 16MiB"),
        ("<priority>'", "it must be 0 to 9, or critical, normal or bulk"),
        ("<0-9>'", "it must be 0 to 9, or critical, normal or bulk"),
        ("<level>'", "it must be auto, fast, or a number from 1 to 9"), ("<n>'", number), ("<parallel>'", number),
        ("<port>'", number),
    ]

    /// Returns what is valid, for a message that says that a value is not; `nil` for any other, and for one that says it already.
    static func text(for message: String) -> String? {
        guard message.contains("is invalid for") else { return nil }
        return forms.first { message.hasSuffix($0.0) }?.1
    }
}
