import FerrySpool
import NIOCore

/// A file on its way out, piece by piece: by reference for plain connections, so that the kernel copies (sendfile), and through
/// memory for TLS.
final class BodySource {
    private let file: OpenFile
    private let size: Int64
    private let isSecure: Bool
    private var position: Int64 = 0
    /// Borrows the file's descriptor.
    private let handle: NIOFileHandle

    init(file: OpenFile, size: Int64, isSecure: Bool) {
        self.file = file
        self.size = size
        self.isSecure = isSecure
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
    }

    deinit {
        // Gives the descriptor back: the file closes it. A piece that the channel still holds fails from here on.
        _ = try? handle.takeDescriptorOwnership()
    }

    var isAtEnd: Bool { position == size }

    /// The next piece.
    ///
    /// - Throws: ``TransportFailure/fileChanged`` when the file has become shorter than it was claimed to be.
    func next(_ allocator: ByteBufferAllocator) throws(TransportFailure) -> IOData {
        let start = position
        let limit = isSecure ? TransportOptions.securePiece : TransportOptions.filePiece
        position = min(start + limit.bytes, size)
        guard let length = try? file.status().size.bytes, length >= position else { throw .fileChanged }
        if !isSecure {
            return .fileRegion(FileRegion(fileHandle: handle, readerIndex: Int(start), endIndex: Int(position)))
        }
        guard let bytes = try? file.readBytes(Int(position - start), at: start), bytes.count == position - start else {
            throw .fileChanged
        }
        return .byteBuffer(allocator.buffer(bytes: bytes))
    }
}
