@testable import FerrySpool
@testable import FerryUpload

extension FuzzTarget {
    /// Messages about routes and links.
    static let netlink = FuzzTarget("netlink", longest: 1024) { bytes in
        let messages = bytes.withUnsafeBytes { NetlinkMessage.parse($0) }
        try expect(messages.count <= bytes.count / NetlinkMessage.headerSize, "each message has a header of its own")
        for message in messages {
            if let code = message.errorCode { try expect(code != .min, "an error has a number") }
            for fixed in [0, 12, 16] {
                let attributes = message.attributes(after: fixed)
                let total = attributes.values.reduce(0) { $0 + $1.count }
                try expect(total <= message.payload.count, "attributes lie in their message")
            }
        }
        let table = RouteTable(messages)
        if let name = table.defaultInterface { try expect(table.links.values.contains { $0.name == name }, "a route has a link") }
    }

    /// News about folders.
    static let inotify = FuzzTarget("inotify", longest: 1024) { bytes in
        let events = bytes.withUnsafeBytes { InotifyEvent.parse($0) }
        try expect(events.count <= bytes.count / 16, "each piece of news has a head of its own")
        for event in events { try expect(!event.name.utf8.contains(0), "a name ends before its padding") }
    }

    /// The list of held locks.
    static let heldLocks = FuzzTarget("held-locks", longest: 1024) { bytes in
        _ = HeldLocks(String(decoding: bytes, as: UTF8.self))
    }
}
