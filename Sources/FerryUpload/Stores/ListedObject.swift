package import FerrySpool

/// An object of a bucket, as a list shows it.
package struct ListedObject: Equatable, Sendable {
    /// The whole name in the bucket, 1 to 1024 bytes.
    package let name: String
    /// The object's size, 0 or more.
    package let size: ByteCount
    /// When it was put, by the store's clock.
    package let modified: Timestamp
    /// The store's mark of its content, quoted.
    let etag: String

    /// What stands behind the name's last slash.
    package var fileName: String { name.split(separator: "/").last.map(String.init) ?? name }
}
