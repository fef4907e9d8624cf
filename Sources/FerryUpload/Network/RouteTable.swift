import CLinux
import FerrySpool
import Glibc

/// What the kernel knows of links and routes.
struct RouteTable: Equatable, Sendable {
    var links: [UInt32: NetworkLink] = [:]
    var routes: [NetworkRoute] = []

    init(_ messages: [NetlinkMessage] = []) {
        for message in messages {
            if let link = NetworkLink(message) { links[link.index] = link }
            if let route = NetworkRoute(message) { routes.append(route) }
        }
    }

    /// The interface that everything without a route of its own leaves by; `nil` when there is none.
    var defaultInterface: String? {
        routes.filter { $0.isDefault && isUsable($0) }.min { $0.metric < $1.metric }.flatMap(name)
    }

    func isUsable(_ route: NetworkRoute) -> Bool {
        route.isUsable && route.link.flatMap { links[$0] }.map(\.isRunning) ?? false
    }

    func name(_ route: NetworkRoute) -> String? { route.link.flatMap { links[$0]?.name } }
}

/// Asks the kernel, with answers in microseconds.
struct RouteQuery: ~Copyable {
    private let descriptor: Int32

    init() throws(FileError) {
        descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Int32(NETLINK_ROUTE))
        guard descriptor >= 0 else { throw FileError("ask for", "routes") }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Returns all links and routes.
    func table() throws(FileError) -> RouteTable {
        // `struct ifinfomsg` and `struct rtmsg`, all zero: everything.
        let links = try ask(RTM_GETLINK, NLM_F_DUMP, body: [UInt8](repeating: 0, count: 16))
        let routes = try ask(RTM_GETROUTE, NLM_F_DUMP, body: [UInt8](repeating: 0, count: 12))
        return RouteTable(links + routes)
    }

    /// Returns the way to one address; `nil` when there is none.
    ///
    /// - Parameter address: 4 or 16 bytes.
    func route(to address: [UInt8]) throws(FileError) -> NetworkRoute? {
        let family = UInt8(address.count == 4 ? AF_INET : AF_INET6)
        var body: [UInt8] = [family, UInt8(address.count * 8)] + [UInt8](repeating: 0, count: 10)
        body += [UInt8(4 + address.count), 0, UInt8(RTA_DST.rawValue), 0] + address
        return try ask(RTM_GETROUTE, 0, body: body).lazy.compactMap { NetworkRoute($0) }.first
    }

    private func ask(_ type: Int, _ flags: Int32, body: [UInt8]) throws(FileError) -> [NetlinkMessage] {
        var request: [UInt8] = []
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { request += $0 } }
        append(UInt32(NetlinkMessage.headerSize + body.count))
        append(UInt16(type))
        append(UInt16(NLM_F_REQUEST) | UInt16(flags))
        append(UInt32(1))
        append(UInt32(0))
        request += body
        guard send(descriptor, request, request.count, 0) == request.count else { throw FileError("ask for", "routes") }
        var messages: [NetlinkMessage] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError("ask for", "routes", code: count == 0 ? EAGAIN : errno) }
            for message in NetlinkMessage.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                if message.type == NLMSG_DONE { return messages }
                if let code = message.errorCode {
                    // These say that there is no way; all others, that the kernel cannot tell now.
                    guard [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EACCES, EINVAL, 0].contains(code) else {
                        throw FileError("ask for", "routes", code: code)
                    }
                    return messages
                }
                messages.append(message)
            }
            if flags == 0 { return messages }
        }
    }
}
