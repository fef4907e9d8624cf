import FerrySpool

/// A page of a bucket's list (S3 API reference, "ListObjectsV2"), with names percent-encoded.
struct ObjectListing: Equatable, Sendable {
    private(set) var objects: [ListedObject] = []
    /// How many entries cannot be read.
    private(set) var flawed = 0
    /// Asks for the next page; `nil` on the last one.
    private(set) var next: String?

    /// Reads a page; `nil` for what is none, or was cut off.
    init?(_ document: [UInt8]) {
        var scanner = ElementScanner(document)
        guard case .opening("ListBucketResult") = scanner.next() else { return nil }
        var fields: [String: String] = [:]
        var (isTruncated, isEntry) = (false, false)
        while let piece = scanner.next() {
            switch piece {
            case .opening("Contents"): (fields, isEntry) = ([:], true)
            case .opening: break
            case .closing("Contents", _):
                if let object = ListedObject(fields) { objects.append(object) } else { flawed += 1 }
                isEntry = false
            case .closing("ListBucketResult", _):
                guard isTruncated else { next = nil; return }
                // Without it there would be no way on: a part of the list must not count as all of it.
                guard let next, !next.isEmpty else { return nil }
                return
            case .closing("IsTruncated", let text) where !isEntry: isTruncated = text == "true"
            case .closing("NextContinuationToken", let text) where !isEntry: next = text
            case .closing(let name, let text): if isEntry { fields[name] = text }
            }
        }
        return nil
    }
}

extension ListedObject {
    fileprivate init?(_ fields: [String: String]) {
        // AWS writes a space as a plus, and a plus as %2B.
        guard let name = fields["Key"].flatMap({ String(percentDecoding: $0.replacing("+", with: " ")) }),
            (1...1024).contains(name.utf8.count), let size = fields["Size"].flatMap({ Int64($0) }), size >= 0,
            let modified = fields["LastModified"].flatMap({ Timestamp(rfc3339: $0) })
        else { return nil }
        // It goes back as a field of a request.
        let etag = fields["ETag"] ?? ""
        let isVisible = etag.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        self.init(name: name, size: ByteCount(size), modified: modified, etag: isVisible ? etag : "")
    }
}

/// Goes through the elements of a small XML document as stores write them: without declarations of its own, and comments.
private struct ElementScanner {
    enum Piece: Equatable {
        case opening(String)
        /// With the text right before it.
        case closing(String, String)
    }

    private var rest: ArraySlice<UInt8>
    private var text: ArraySlice<UInt8> = []
    /// An element without content has an end of its own.
    private var empty: String?

    init(_ document: [UInt8]) { rest = document[...] }

    /// Returns the next piece; `nil` at the end, or where it goes on as no such document.
    mutating func next() -> Piece? {
        if let empty {
            self.empty = nil
            return .closing(empty, "")
        }
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            text = rest[..<start]
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = rest[(start + 1)..<end]
            rest = rest[(end + 1)...]
            switch tag.first {
            case UInt8(ascii: "?"): continue
            case UInt8(ascii: "!"): return nil
            case UInt8(ascii: "/"): return .closing(Self.name(tag.dropFirst()), Self.decoded(text))
            default:
                let name = Self.name(tag)
                if tag.last == UInt8(ascii: "/") { empty = name }
                return .opening(name)
            }
        }
        return nil
    }

    private static func name(_ tag: ArraySlice<UInt8>) -> String {
        String(decoding: tag.prefix { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return text }
        return S3Answer.withoutEntities(text)
    }
}
