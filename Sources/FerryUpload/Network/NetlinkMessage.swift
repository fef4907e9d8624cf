import CLinux
import FerrySpool
import Glibc

/// One message of the kernel about routes and links (rtnetlink(7)).
struct NetlinkMessage: Equatable, Sendable {
    let type: Int32
    let payload: [UInt8]

    /// Takes what one read returned apart.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var position = 0
        while position + headerSize <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            guard length >= headerSize, length <= bytes.count - position else { break }
            messages.append(
                NetlinkMessage(
                    type: Int32(bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt16.self)),
                    payload: Array(bytes[position + headerSize..<position + length])))
            position += (length + 3) & ~3
        }
        return messages
    }

    static let headerSize = 16

    /// The error that the message tells of; 0: none, `nil`: it is no such message.
    var errorCode: Int32? {
        guard type == NLMSG_ERROR else { return nil }
        guard payload.count >= 4 else { return EBADMSG }
        return Int32.zero.subtracting(Int32(bitPattern: payload.unsigned(at: 0)))
    }

    /// Returns the attributes behind a message's fixed part, by type.
    func attributes(after fixed: Int) -> [Int32: ArraySlice<UInt8>] {
        var attributes: [Int32: ArraySlice<UInt8>] = [:]
        var position = fixed
        while position + 4 <= payload.count {
            let length = Int(payload[position]) | Int(payload[position + 1]) << 8
            guard length >= 4, length <= payload.count - position else { break }
            let type = Int32(payload[position + 2]) | Int32(payload[position + 3]) << 8
            attributes[type & 0x3fff] = payload[position + 4..<position + length]
            position += (length + 3) & ~3
        }
        return attributes
    }
}

/// A network interface.
struct NetworkLink: Equatable, Sendable {
    let index: UInt32
    let name: String
    /// It is up, and its cable or radio is connected.
    let isRunning: Bool

    /// `nil` when the message is about something else.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWLINK, message.payload.count >= 16,
            let name = message.attributes(after: 16)[Int32(IFLA_IFNAME)]
        else { return nil }
        index = message.payload.unsigned(at: 4)
        self.name = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        let flags = message.payload.unsigned(at: 8)
        isRunning = flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0
    }
}

/// A way to some addresses.
struct NetworkRoute: Equatable, Sendable {
    /// The interface; `nil` for blackholes and their like.
    let link: UInt32?
    /// It leads everywhere.
    let isDefault: Bool
    /// Of several, the one with the smallest is taken.
    let metric: UInt32
    /// It leads somewhere, and its link is there.
    let isUsable: Bool

    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWROUTE, message.payload.count >= 12 else { return nil }
        let attributes = message.attributes(after: 12)
        func number(_ type: rtattr_type_t) -> UInt32? {
            attributes[Int32(type.rawValue)].flatMap { $0.count >= 4 ? Array($0).unsigned(at: 0) : nil }
        }
        // Several next hops (RTA_MULTIPATH): the first one stands for all; `struct rtnexthop` has its interface at 4.
        let hops = attributes[Int32(RTA_MULTIPATH.rawValue)].flatMap { $0.count >= 8 ? Array($0).unsigned(at: 4) : nil }
        link = number(RTA_OIF) ?? hops
        metric = number(RTA_PRIORITY) ?? 0
        let table = number(RTA_TABLE) ?? UInt32(message.payload[4])
        isDefault = message.payload[1] == 0 && table == UInt32(RT_TABLE_MAIN.rawValue)
        let flags = message.payload.unsigned(at: 8)
        let isUnicast = message.payload[7] == UInt8(RTN_UNICAST) || message.payload[7] == UInt8(RTN_LOCAL)
        isUsable = isUnicast && flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) == 0
    }
}

extension [UInt8] {
    /// Returns four bytes in the machine's order.
    fileprivate func unsigned(at offset: Int) -> UInt32 {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}
