@preconcurrency import Dispatch
import Glibc

/// Reads from a descriptor whenever there is something, on a queue of its own. Owns the descriptor.
final class DescriptorReader: Sendable {
    let descriptor: Int32
    private let source: any DispatchSourceRead

    /// - Parameter onBytes: Called with what one read returned.
    init(_ descriptor: Int32, label: String, onBytes: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: label))
        source.setEventHandler {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                onBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    /// Larger than any message of netlink, and some thousand of inotify's.
    private static let size = 1 << 16

    deinit { source.cancel() }
}
