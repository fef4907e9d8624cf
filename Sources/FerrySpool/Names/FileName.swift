/// A file's name or path as the file system knows it: by its bytes. `String` takes two spellings of one text, `é` and `e` with U+0301, for the same.
public struct FileName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (left: FileName, right: FileName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Set where Element == FileName {
    public func contains(_ name: String) -> Bool { contains(FileName(name)) }

    @discardableResult
    public mutating func insert(_ name: String) -> (inserted: Bool, memberAfterInsert: FileName) { insert(FileName(name)) }

    @discardableResult
    public mutating func remove(_ name: String) -> FileName? { remove(FileName(name)) }
}

extension Dictionary where Key == FileName {
    public subscript(_ name: String) -> Value? {
        get { self[FileName(name)] }
        set { self[FileName(name)] = newValue }
    }

    public subscript(_ name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[FileName(name), default: value()] }
        _modify { yield &self[FileName(name), default: value()] }
    }
}
