import FerrySpool
import Glibc

/// A folder, and how files are named in it: `file:///mnt/share/{day}`.
///
/// The path may hold `{day}`, `{hour}`, `{stream}`, `{priority}`, `{machine}`, `{segment}`, `{id}` and `{key}`. Without one of the last three,
/// `/{segment}` is appended. What stands before the first placeholder must be there; what is below it is made.
struct FileLocation: Sendable {
    /// The folder that must be there.
    let base: String
    /// Whether something must be mounted on it.
    let requiresMount: Bool
    /// Whether segments have folders of their own below ``base``, by their stream or time.
    let hasFolders: Bool
    /// A place of this machine, which no network and no proxy leads to; its path has what is below ``base``, with placeholders.
    let url: DestinationURL
    let description: String

    /// - Throws: ``DestinationURLError`` for a text that names no folder, or says what there is not.
    init(_ text: String) throws(DestinationURLError) {
        func wrong(_ what: String) -> DestinationURLError { DestinationURLError(description: "'\(text.withoutSecrets)' \(what)") }
        let scheme = "file:"
        guard text.prefix(scheme.utf8.count).lowercased() == scheme else { throw wrong("is no file: URL") }
        let parts = text.dropFirst(scheme.utf8.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard !parts[0].contains("#") else { throw wrong("holds '#'; write that as %23") }
        guard parts[0].hasPrefix("//") else { throw wrong("has no absolute path; write it like file:///mnt/share") }
        let path = parts[0].dropFirst(2)
        let host = path.prefix { $0 != "/" }
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw wrong("names the host '\(host.withoutSecrets)'; mount its share, and write the path here: file:///mnt/share")
        }
        var (base, template): ([String], [String]) = ([], [])
        let components = path.dropFirst(host.count).split(separator: "/").map(String.init)
        for component in components {
            let (encoded, hasPlaceholder) = try Self.encoded(component, of: text)
            if template.isEmpty, !hasPlaceholder { base.append(component) } else { template.append(encoded) }
        }
        guard !base.isEmpty else {
            throw wrong("names no folder before the first placeholder: that must be there, and is not made")
        }
        self.base = "/" + base.compactMap { String(percentDecoding: $0) }.joined(separator: "/")
        guard self.base.utf8.count < Int(PATH_MAX) else { throw wrong("is longer than a path can be") }
        if !["{segment}", "{id}", "{key}"].contains(where: { path.contains($0) }) { template.append("{segment}") }
        hasFolders = template.dropLast().contains { part in
            DestinationURL.Placeholder.allCases.contains { $0 != .machine && part.contains($0.text) }
        }
        url = try DestinationURL("http+unix://%2F/\(template.joined(separator: "/"))")
        requiresMount = try Self.requiresMount(parts.count > 1 ? parts[1] : "", of: text)
        description = "file:///" + components.joined(separator: "/")
    }

    /// Percent-encodes all of a path's component but placeholders.
    private static func encoded(
        _ component: String, of text: String
    ) throws(DestinationURLError) -> (text: String, hasPlaceholder: Bool) {
        var (encoded, rest, hasPlaceholder) = ("", component[...], false)
        func literal(_ part: Substring) throws(DestinationURLError) -> String {
            guard let decoded = String(percentDecoding: String(part)), isPart(decoded) else {
                let known = DestinationURL.Placeholder.allCases.map(\.text).joined(separator: ", ")
                throw DestinationURLError(
                    description:
                        "'\(text.withoutSecrets)': '\(component)' cannot be a part of a path; there are the placeholders \(known)"
                )
            }
            return decoded.percentEncodedForURL
        }
        while let open = rest.firstIndex(of: "{") {
            guard let found = DestinationURL.Placeholder.allCases.first(where: { rest[open...].hasPrefix($0.text) }) else {
                break
            }
            encoded += try literal(rest[..<open]) + found.text
            rest = rest[open...].dropFirst(found.text.count)
            hasPlaceholder = true
        }
        encoded += try literal(rest)
        guard hasPlaceholder || !["", ".", ".."].contains(String(percentDecoding: component)) else {
            throw DestinationURLError(description: "'\(text.withoutSecrets)' holds '\(component)'; write the path without it")
        }
        return (encoded, hasPlaceholder)
    }

    /// Returns whether a text can be a part of a file's name, and be told in a line. Braces would look like a placeholder.
    private static func isPart(_ text: String) -> Bool {
        text.utf8.count <= Int(NAME_MAX)
            && text.utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7f && ![UInt8(ascii: "/"), UInt8(ascii: "{"), UInt8(ascii: "}")].contains($0)
            }
    }

    private static func requiresMount(_ query: Substring, of text: String) throws(DestinationURLError) -> Bool {
        switch query {
        case "", "require-mount=no": return false
        case "require-mount=yes": return true
        default:
            throw DestinationURLError(
                description:
                    "'\(text.withoutSecrets)': '\("?\(query)".withoutSecrets.dropFirst())' is not require-mount=yes, which is all there is"
            )
        }
    }

    /// Returns where one file goes, below ``base``; `nil` where what was put in for a placeholder cannot be a part of a path.
    ///
    /// - Parameter target: The path of ``url`` for a segment.
    static func place(_ target: String) -> (folders: [String], name: String)? {
        var parts: [String] = []
        for part in target.split(separator: "/") {
            guard let name = String(percentDecoding: String(part)), !["", ".", ".."].contains(name),
                !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
            else { return nil }
            parts.append(name)
        }
        return parts.popLast().map { (parts, $0) }
    }
}
