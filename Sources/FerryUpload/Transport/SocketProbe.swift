import CForks
import Glibc
import NIOCore

/// Asks the kernel how far a connection's bytes have come.
///
/// The probe has a descriptor of its own: it can still answer in the moment in which the event loop tells that the connection is gone.
final class SocketProbe {
    /// How far the bytes have come. Two equal ones mean that the other side acknowledged nothing in between.
    struct Standing: Equatable {
        /// Bytes that the other side acknowledged since the connection was made; `nil` where the kernel does not count them, as for
        /// socket files.
        var acknowledged: Int64?
        /// Bytes in the kernel that the other side has not acknowledged.
        var queued: Int64
        /// Bytes in the kernel that have not left this machine even once; 0 where the other side's buffer is this machine's.
        var unsent: Int64
    }

    private let descriptor: CInt

    /// - Returns: `nil` when the channel is closed, or there is no descriptor left.
    init?(_ context: ChannelHandlerContext) {
        let copy = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            fcntl($0, F_DUPFD_CLOEXEC, 3)
        }
        guard let copy, copy >= 0 else { return nil }
        descriptor = copy
        ferry_own_socket(copy)
    }

    deinit { close(descriptor) }

    var standing: Standing {
        Standing(acknowledged: acknowledged, queued: queued, unsent: count(Self.unsentRequest))
    }

    /// Bytes in the kernel that the other side has not acknowledged.
    var queued: Int64 { count(Self.queuedRequest) }

    /// Bytes that have come, and were not read.
    var unread: Int64 { count(Self.unreadRequest) }

    /// Lets the kernel throw away what it has not sent when the connection is closed. Else it goes on sending for minutes, and a request
    /// that was given up would arrive after all.
    func discardUnsent() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// `SIOCOUTQ`, `SIOCOUTQNSD` and `SIOCINQ` of linux/sockios.h.
    private static let queuedRequest: UInt = 0x5411
    private static let unsentRequest: UInt = 0x894B
    private static let unreadRequest: UInt = 0x541B

    private func count(_ request: UInt) -> Int64 {
        var bytes: CInt = 0
        return ioctl(descriptor, request, &bytes) == 0 ? Int64(bytes) : 0
    }

    /// As ``Standing/acknowledged``: `tcpi_bytes_acked` in linux/tcp.h's `tcp_info`, whose beginning never changes; glibc's own declaration is shorter.
    var acknowledged: Int64? {
        let offset = 120
        return withUnsafeTemporaryAllocation(byteCount: offset + 8, alignment: 8) { info in
            var length = socklen_t(info.count)
            guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, info.baseAddress, &length) == 0, length >= info.count else {
                return nil
            }
            return Int64(clamping: info.load(fromByteOffset: offset, as: UInt64.self))
        }
    }
}
