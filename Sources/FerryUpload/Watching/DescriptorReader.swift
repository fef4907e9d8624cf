@preconcurrency import Dispatch
import Glibc

/// Reads from a descriptor whenever there is something, on a queue of its own. Owns the descriptor.
final class DescriptorReader: Sendable {
    let descriptor: Int32
    private let source: any DispatchSourceRead

    /// - Parameters:
    ///   - onBytes: Called with what one read returned.
    ///   - onLoss: Called when the kernel had more to tell than it could keep.
    init(
        _ descriptor: Int32, label: String, onLoss: @escaping @Sendable () -> Void = {},
        onBytes: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) {
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: label))
        source.setEventHandler {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else {
                    if count < 0, errno == EINTR { continue }
                    guard count < 0, errno == ENOBUFS else { return }
                    onLoss()
                    continue
                }
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
