import CLinux
import FerrySpool
import Glibc
import Synchronization

/// Watches the machine's links, addresses and routes, and tells whether there is a way to the destination.
final class NetworkWatch: Sendable {
    private let policy: NetworkPolicy
    private let target: Origin.Address
    private let reader: DescriptorReader?

    /// - Parameters:
    ///   - target: Where connections go: the destination, or a proxy.
    ///   - onNews: Called from any thread when something changed.
    init(_ policy: NetworkPolicy, target: Origin.Address, onNews: @escaping @Sendable () -> Void) {
        self.policy = policy
        self.target = target
        reader = policy.isWatched ? Self.subscribe().map { DescriptorReader($0, label: "ferry.network") { _ in onNews() } } : nil
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

    /// Whether there is a way now. May look a name up, so it belongs on a thread that may block.
    func verdict() -> NetworkVerdict {
        guard reader != nil, case .host(let host, _) = target, host != "localhost" else { return .usable(interface: nil) }
        do throws(FileError) {
            let query = try RouteQuery()
            let table = try query.table()
            return judge(try interface(to: host, query, table))
        } catch {
            // Where the kernel does not tell (some containers), sending is tried.
            return .usable(interface: nil)
        }
    }

    func judge(_ interface: String?) -> NetworkVerdict {
        guard let interface else { return .noRoute }
        return policy.permits(interface) ? .usable(interface: interface) : .denied(interface: interface)
    }

    private func interface(to host: String, _ query: borrowing RouteQuery, _ table: RouteTable) throws(FileError) -> String? {
        func interface(_ address: [UInt8]) throws(FileError) -> String? {
            guard let route = try query.route(to: address), table.isUsable(route) else { return nil }
            return table.name(route)
        }
        if let address = IPAddress.bytes(of: host) { return try interface(address) }
        // A name: where everything goes. Without such a way it may still be a neighbour's, in /etc/hosts or by mDNS.
        if let name = table.defaultInterface { return name }
        for address in IPAddress.resolve(host) { if let name = try interface(address) { return name } }
        return nil
    }
}

enum IPAddress {
    /// The bytes of an address in text; `nil` when it is a name.
    static func bytes(of host: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        var six = in6_addr()
        let plain = host.split(separator: "%", maxSplits: 1).first.map(String.init) ?? host
        return inet_pton(AF_INET6, plain, &six) == 1 ? withUnsafeBytes(of: six) { Array($0) } : nil
    }

    /// The addresses of a name. Blocks for as long as the resolver takes.
    static func resolve(_ name: String) -> [[UInt8]] {
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next {
            // The address begins at 4 in sockaddr_in, at 8 in sockaddr_in6.
            let start = UnsafeRawPointer(entry.pointee.ai_addr!)
            switch entry.pointee.ai_family {
            case AF_INET: addresses.append(Array(UnsafeRawBufferPointer(start: start + 4, count: 4)))
            case AF_INET6: addresses.append(Array(UnsafeRawBufferPointer(start: start + 8, count: 16)))
            default: break
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}
