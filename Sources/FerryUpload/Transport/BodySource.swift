import FerrySpool
import NIOCore

/// A body on its way out, piece by piece: a file by reference for plain connections, so that the kernel copies (sendfile), and
/// through memory for TLS.
final class BodySource {
    private enum Content {
        case bytes(ByteBuffer)
        /// The handle borrows the file's descriptor.
        case file(OpenFile, NIOFileHandle)
    }

    private let content: Content
    private let size: Int64
    private let isSecure: Bool
    /// The largest piece.
    private let piece: ByteCount
    private let throttle: Throttle
    private var position: Int64 = 0

    init(_ body: RequestBody, to origin: Origin, throttle: Throttle) {
        isSecure = origin.isSecure
        piece = TransportOptions.piece(for: origin)
        self.throttle = throttle
        size = body.size.bytes
        content =
            switch body {
            case .bytes(let buffer): .bytes(buffer)
            case .file(let file, _): .file(file, NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor))
            }
    }

    deinit {
        // Gives the descriptor back: the file closes it. A piece that the channel still holds fails from here on.
        if case .file(_, let handle) = content { _ = try? handle.takeDescriptorOwnership() }
    }

    var isAtEnd: Bool { position == size }

    /// Returns how long the next piece has to wait.
    func wait() -> Duration { throttle.wait(for: ByteCount(nextEnd - position)) }

    private var nextEnd: Int64 { min(position + min(throttle.piece, piece).bytes, size) }

    /// Returns the next piece.
    ///
    /// - Throws: ``TransportError/fileChanged`` when the file has become shorter than it was claimed to be.
    func next(_ allocator: ByteBufferAllocator) throws(TransportError) -> IOData {
        let start = position
        position = nextEnd
        switch content {
        case .bytes(let buffer):
            return .byteBuffer(buffer.getSlice(at: buffer.readerIndex + Int(start), length: Int(position - start))!)
        case .file(let file, let handle):
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
}
