/// What the marks of a spool are known by: two equal stamps mean that nothing has changed.
package struct ExportsStamp: Equatable, Sendable {
    let changed: Timestamp
    /// On a file system that counts whole seconds, two changes have one time.
    let marks: [String]
    let underWay: Int
}
