import CLinux
@preconcurrency import Dispatch
import FerrySpool
import Glibc

/// What a look at the network showed.
struct NetworkLook: Equatable, Sendable {
    let verdict: NetworkVerdict
    /// The destination's name could not be looked up: it may be possible a little later, of which the kernel tells nothing.
    var isProvisional = false
}

/// Watches the machine's links, addresses and routes, and tells whether there is a way to the destination.
final class NetworkWatch: Sendable {
    /// Makes what looks at the network. The closure that it is given is called from any thread when something changed; the one that it
    /// returns looks, and calls back from any thread with what it saw, `nil` when the kernel could not tell.
    typealias Maker =
        @Sendable (_ onChange: @escaping @Sendable () -> Void) ->
        @Sendable (
            _ done: @escaping @Sendable (NetworkLook?) -> Void
        ) -> Void

    private let policy: NetworkPolicy
    private let target: Origin.Address
    private let reader: DescriptorReader?
    /// Names are looked up here: it may take as long as the resolver's patience.
    private let queue = DispatchQueue(label: "ferry.network.look")

    /// - Parameters:
    ///   - target: Where connections go: the destination, or a proxy.
    ///   - onChange: Called from any thread when something changed.
    init(_ policy: NetworkPolicy, target: Origin.Address, onChange: @escaping @Sendable () -> Void) {
        self.policy = policy
        self.target = target
        // Events that were lost count as one: a fresh look shows whether anything changed.
        reader =
            policy.isWatched
            ? Self.subscribe().map { DescriptorReader($0, label: "ferry.network", onLoss: onChange) { _ in onChange() } } : nil
    }

    /// Looks at the real network.
    static func maker(_ options: RunOptions) -> Maker {
        let origin = options.upload.destination.url.origin
        let proxy = options.upload.transport.proxies.proxy(for: origin).map { Origin.Address.host($0.host, port: $0.port) }
        let policy = options.network
        return { onChange in
            let watch = NetworkWatch(policy, target: proxy ?? origin.address, onChange: onChange)
            return { done in watch.queue.async { done(watch.look()) } }
        }
    }

    private static func subscribe() -> Int32? {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, type, Int32(NETLINK_ROUTE))
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Returns whether there is a way now; `nil` when the kernel does not tell. May look a name up, so it belongs on a thread that may block.
    private func look() -> NetworkLook? {
        guard reader != nil, case .host(let host, _) = target, host != "localhost" else {
            return NetworkLook(verdict: .usable(interface: nil))
        }
        let address = IPAddress.bytes(of: host)
        let addresses = address.map { [$0] } ?? IPAddress.resolve(host)
        // An answer that got lost is no change of the network: the question is asked again.
        for _ in 0..<3 {
            do throws(FileError) {
                let query = try RouteQuery()
                let table = try query.table()
                var interfaces: [String?] = []
                for address in addresses {
                    let route = try query.route(to: address)
                    interfaces.append(route.flatMap { table.isUsable($0) ? table.name($0) : nil })
                }
                // Without an address, by where everything goes that has no route of its own: the resolver's questions too.
                let verdict = NetworkVerdict(
                    interfaces: addresses.isEmpty ? [table.defaultInterface] : interfaces, policy)
                return NetworkLook(verdict: verdict, isProvisional: addresses.isEmpty)
            } catch  where error.code == EINTR || error.code == ENOBUFS || error.code == EAGAIN {
                continue
            } catch {
                return nil
            }
        }
        return nil
    }
}

extension NetworkVerdict {
    /// - Parameter interfaces: For each address of the destination, the one that its route leaves by; `nil` without a usable route.
    init(interfaces: [String?], _ policy: NetworkPolicy) {
        let ways = interfaces.compactMap { $0 }
        if let permitted = ways.first(where: policy.permits) {
            self = .usable(interface: permitted)
        } else if let denied = ways.first {
            self = .denied(interface: denied)
        } else {
            self = .noRoute
        }
    }
}

enum IPAddress {
    /// Returns the bytes of an address in text; `nil` when it is a name.
    static func bytes(of host: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        var six = in6_addr()
        let plain = host.split(separator: "%", maxSplits: 1).first.map(String.init) ?? host
        return inet_pton(AF_INET6, plain, &six) == 1 ? withUnsafeBytes(of: six) { Array($0) } : nil
    }

    /// Returns the addresses of a name, each once. Blocks for as long as the resolver takes.
    static func resolve(_ name: String) -> [[UInt8]] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = entry.pointee.ai_addr else { continue }
            // The address begins at 4 in sockaddr_in, at 8 in sockaddr_in6.
            let start = UnsafeRawPointer(address)
            switch entry.pointee.ai_family {
            case AF_INET: addresses.append(Array(UnsafeRawBufferPointer(start: start + 4, count: 4)))
            case AF_INET6: addresses.append(Array(UnsafeRawBufferPointer(start: start + 8, count: 16)))
            default: break
            }
        }
        return addresses
    }
}
