import Glibc

/// A file's name or path as the file system knows it: by its bytes. `String` takes two spellings of one text, `é` and `e` with U+0301, for the same.
package struct FileName: Hashable, Sendable {
    /// The name or path.
    package let text: String

    /// Takes a name or path as it is.
    package init(_ text: String) { self.text = text }

    /// Returns whether the two have the same bytes.
    package static func == (left: FileName, right: FileName) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let one = left.baseAddress, let other = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(one, other, left.count) == 0
            }
        }
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Set where Element == FileName {
    /// Returns whether the set has a name, compared by its bytes.
    package func contains(_ name: String) -> Bool { contains(FileName(name)) }

    /// Inserts a name, compared by its bytes.
    @discardableResult
    package mutating func insert(_ name: String) -> (inserted: Bool, memberAfterInsert: FileName) { insert(FileName(name)) }

    /// Removes a name, compared by its bytes, and returns it; `nil` when it was not there.
    @discardableResult
    package mutating func remove(_ name: String) -> FileName? { remove(FileName(name)) }
}

extension Dictionary where Key == FileName {
    /// Accesses the value of a name, compared by its bytes.
    package subscript(_ name: String) -> Value? {
        get { self[FileName(name)] }
        set { self[FileName(name)] = newValue }
    }

    /// Accesses the value of a name, compared by its bytes, or a default.
    package subscript(_ name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[FileName(name), default: value()] }
        _modify { yield &self[FileName(name), default: value()] }
    }
}
