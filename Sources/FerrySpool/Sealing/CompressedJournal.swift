/// A journal's content as a finished gzip file that has no name yet.
package struct CompressedJournal: ~Copyable, Sendable {
    let publication: Publication
    /// How many events it holds.
    package let events: Int64

    consuming func publish(as name: String) throws(FileError) -> Bool { try publication.publish(as: name) }
}
