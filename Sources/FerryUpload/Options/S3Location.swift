import FerrySpool

/// A bucket, and how its objects are named and stored: `s3://BUCKET/PREFIX?endpoint=…&region=…&style=path`.
///
/// The prefix may hold `{day}`, `{hour}`, `{stream}`, `{priority}`, `{machine}`, `{segment}`, `{id}` and `{key}`. Without one of the last three,
/// `/{segment}` is appended, and before it `/{day}` where the prefix has no placeholder.
struct S3Location: Sendable {
    let bucket: String
    /// What the names of all its objects begin with, without the slash.
    let prefix: String
    /// Where requests go, with placeholders.
    let url: DestinationURL
    /// Where the bucket is: objects' names follow.
    let bucketURL: DestinationURL
    let region: String
    /// What every object is stored with, as header fields.
    let storage: [(name: String, value: String)]
    let description: String

    /// - Parameters:
    ///   - environment: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_REGION` and `AWS_DEFAULT_REGION` stand in for what the text leaves out.
    ///   - names: How objects are named below the prefix, which has no placeholders then; `nil`: as the prefix says.
    /// - Throws: ``DestinationURLError`` for a text that names no bucket, or says what there is not.
    init(_ text: String, environment: [String: String], names: String? = nil) throws(DestinationURLError) {
        guard text.hasPrefix("s3://") else {
            throw DestinationURLError(description: "'\(text.withoutSecrets)' names no bucket; write it like s3://bucket/prefix")
        }
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let parts = text.dropFirst("s3://".utf8.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = String(path[0])
        guard !bucket.contains("@") else { throw Self.credentialsInURL }
        guard Self.isBucket(bucket) else {
            throw DestinationURLError(description: "'\(text.withoutSecrets)' names no bucket; write it like s3://bucket/prefix")
        }
        let options = try Self.options(parts.count > 1 ? parts[1] : "", of: text)
        region = options["region"]?.first ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1"
        guard !region.isEmpty, region.utf8.allSatisfy({ $0.isURLWordCharacter }) else {
            throw DestinationURLError(description: "'\(text.withoutSecrets)': region must be like eu-central-1 or default")
        }
        let custom = options["endpoint"]?.first ?? variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL")
        let endpoint = try Self.endpoint(custom ?? "https://s3.\(region).amazonaws.com", of: text)
        let style = options["style"]?.first ?? (custom != nil || bucket.contains(".") ? "path" : "virtual")
        guard ["path", "virtual"].contains(style) else {
            throw DestinationURLError(description: "'\(text.withoutSecrets)': style must be path or virtual")
        }
        guard style == "path" || !Self.isAddress(endpoint) else {
            throw DestinationURLError(
                description:
                    "'\(text.withoutSecrets)': the endpoint is an address, which has no names below it: leave style=virtual out")
        }
        var prefix = String(path.count > 1 ? path[1] : "")
        while prefix.hasSuffix("/") { prefix.removeLast() }
        guard prefix.utf8.count <= Self.longestPrefix else {
            throw DestinationURLError(
                description:
                    "'\(text.withoutSecrets)': the prefix has \(prefix.utf8.count) bytes; object names have at most 1024, and \(Self.longestPrefix) of them are left for it"
            )
        }
        try Self.checkPlaceholders(prefix, of: text)
        guard names == nil || !prefix.contains("{") else {
            throw DestinationURLError(
                description:
                    "'\(text.withoutSecrets)': the prefix of a store has no placeholders: its objects are named after their segments"
            )
        }
        self.prefix = prefix
        let key = names.map { prefix.isEmpty ? $0 : "\(prefix)/\($0)" } ?? Self.template(of: prefix)
        let base =
            style == "path" ? "\(endpoint)/\(bucket)" : endpoint.replacing("://", with: "://\(bucket).", maxReplacements: 1)
        url = try DestinationURL("\(base)/\(Self.encoded(key))")
        bucketURL = try DestinationURL("\(base)/")
        storage = try Self.storage(options, of: text)
        description = "s3://\(bucket)" + (prefix.isEmpty ? "" : "/\(prefix)") + (custom == nil ? "" : "?endpoint=\(endpoint)")
    }

    /// What is left of the 1024 bytes of an object's name (S3 user guide, "Naming Amazon S3 objects") beside the day and the longest file name.
    private static let longestPrefix = 750

    private static let credentialsInURL = DestinationURLError(
        description:
            "the URL, or its endpoint, holds credentials, which every user of the machine can see; use --credentials-file")

    private static func checkPlaceholders(_ prefix: String, of text: String) throws(DestinationURLError) {
        let known = DestinationURL.Placeholder.allCases.map(\.text)
        let rest = known.reduce(prefix) { $0.replacing($1, with: "") }
        guard !rest.contains("{"), !rest.contains("}") else {
            throw DestinationURLError(
                description: "'\(text.withoutSecrets)' has an unknown placeholder; there are \(known.joined(separator: ", "))")
        }
    }

    /// Returns what an object's name is made of.
    private static func template(of prefix: String) -> String {
        if ["{segment}", "{id}", "{key}"].contains(where: { prefix.contains($0) }) { return prefix }
        let folder = prefix.contains("{") ? prefix : prefix.isEmpty ? "{day}" : prefix + "/{day}"
        return folder + "/{segment}"
    }

    /// Percent-encodes all but slashes and what may be a placeholder.
    private static func encoded(_ key: String) -> String {
        key.split(separator: "/", omittingEmptySubsequences: false).map { part in
            var (encoded, rest) = ("", part)
            while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
                encoded += String(rest[..<open]).percentEncodedForURL + rest[open...close]
                rest = rest[rest.index(after: close)...]
            }
            return encoded + String(rest).percentEncodedForURL
        }.joined(separator: "/")
    }

    /// What stands behind the question mark, decoded.
    private static func options(_ query: Substring, of text: String) throws(DestinationURLError) -> [String: [String]] {
        var options: [String: [String]] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = String(percentDecoding: String(parts[1])), Self.known.contains(String(parts[0]))
            else {
                throw DestinationURLError(
                    description:
                        "'\(text.withoutSecrets)': '\("?\(pair)".withoutSecrets.dropFirst())' is none of \(Self.known.map { $0 + "=…" }.joined(separator: ", "))"
                )
            }
            guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                throw DestinationURLError(
                    description: "'\(text.withoutSecrets)': '\(parts[0])' has other than printable ASCII characters")
            }
            options[String(parts[0]), default: []].append(value)
        }
        for (name, values) in options.sorted(by: { $0.key < $1.key }) where name != "tag" && values.count > 1 {
            throw DestinationURLError(description: "'\(text.withoutSecrets)' has '\(name)' more than once")
        }
        return options
    }

    private static let known = ["endpoint", "region", "style", "class", "tag", "sse", "kms-key"]

    /// The header fields of PutObject that the options ask for.
    private static func storage(
        _ options: [String: [String]], of text: String
    ) throws(DestinationURLError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let value = options["class"]?.first { fields.append(("x-amz-storage-class", value)) }
        if let value = options["sse"]?.first { fields.append(("x-amz-server-side-encryption", value)) }
        if let value = options["kms-key"]?.first {
            guard options["sse"] != nil else {
                throw DestinationURLError(description: "'\(text.withoutSecrets)': kms-key needs sse=aws:kms")
            }
            fields.append(("x-amz-server-side-encryption-aws-kms-key-id", value))
        }
        let tags = try (options["tag"] ?? []).map { tag throws(DestinationURLError) in
            let parts = tag.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                throw DestinationURLError(description: "'\(text.withoutSecrets)': tag must be like tag=team:ocean")
            }
            return "\(String(parts[0]).percentEncodedForURL)=\(String(parts[1]).percentEncodedForURL)"
        }
        if !tags.isEmpty { fields.append(("x-amz-tagging", tags.joined(separator: "&"))) }
        return fields
    }

    private static func endpoint(_ text: String, of whole: String) throws(DestinationURLError) -> String {
        guard !text.contains("@") else { throw credentialsInURL }
        var endpoint = text
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        let url = try? DestinationURL(endpoint)
        guard let url, case .host = url.origin.address, !endpoint.contains("?"), !endpoint.contains("{") else {
            throw DestinationURLError(
                description:
                    "'\(whole.withoutSecrets)': the endpoint '\(text.withoutSecrets)' must be like http://host:7480 (query, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL)"
            )
        }
        return endpoint
    }

    /// Returns whether a header field is signed, or what a put depends on.
    static func reserves(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("x-amz-") || ["authorization", "content-type", "if-none-match", "date"].contains(name)
    }

    /// Returns whether an endpoint names its host by number.
    private static func isAddress(_ endpoint: String) -> Bool {
        guard let url = try? DestinationURL(endpoint), case .host(let host, _) = url.origin.address else { return false }
        return host.contains(":")
            || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Returns whether a store can have a bucket of this name. AWS takes fewer ("Bucket naming rules"), Ceph and others more.
    private static func isBucket(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { $0.isURLWordCharacter } && name != "." && name != ".."
    }
}

extension UInt8 {
    /// Letters, digits, `-`, `_` and `.`.
    var isURLWordCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
