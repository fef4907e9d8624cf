/// The lock on a mark, which says that its uploader uses the spool just now. It can be released while the spool is idle, so that its
/// file system can be unmounted, and taken again.
package struct UploaderMarkHolder: Sendable {
    private let mark: UploaderMark
    private var file: OpenFile?

    init(_ mark: UploaderMark, _ file: OpenFile) {
        self.mark = mark
        self.file = file
    }

    /// Releases the lock, by closing the mark's file.
    package mutating func release() { file = nil }

    /// Takes the lock again, unless another uploader has left a newer mark.
    package mutating func hold(_ spool: Spool?) {
        guard file == nil, let spool, (try? spool.uploaderMark.read()?.mark) == mark else { return }
        guard let found = (try? spool.stateDirectory?.open(UploaderMarkFile.fileName)) ?? nil, found.tryLock() else { return }
        file = found
    }
}
