/// Which files processes of this machine hold locks on, as the kernel lists them. Unlike trying a lock, looking disturbs no process.
package struct HeldLocks: Sendable {
    private var devices: [UInt64: Set<String>] = [:]

    /// A machine with more has other sorrows; what is not read counts as not held.
    private static let largestList = 1 << 22

    /// Reads `/proc/locks`; without it nothing counts as held.
    package init() {
        let bytes = (try? OpenFile.reading("/proc/locks").readBytes(Self.largestList, at: 0)) ?? []
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Reads the content of `/proc/locks`.
    ///
    /// - Parameter text: Lines like `1: FLOCK  ADVISORY  WRITE 708 08:01:393219 0 EOF`; those with an arrow wait for a lock.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE" else { continue }
            let file = fields[5].split(separator: ":")
            guard file.count == 3, let inode = UInt64(file[2]) else { continue }
            devices[inode, default: []].insert("\(file[0]):\(file[1])")
        }
    }

    /// Returns whether a process holds the lock of a file.
    func contains(_ file: FileStatus.Identity, in directory: Directory) -> Bool {
        guard let devices = devices[UInt64(file.inode)] else { return false }
        return directory.hasDevicesOfItsOwn || devices.contains(file.deviceNumber)
    }
}

extension FileStatus.Identity {
    /// As in `/proc/locks`: major and minor number in hexadecimal.
    fileprivate var deviceNumber: String {
        let (major, minor) = (device >> 8 & 0xfff | device >> 32 & ~0xfff, device & 0xff | device >> 12 & ~0xff)
        return "\(String(major, radix: 16, width: 2)):\(String(minor, radix: 16, width: 2))"
    }
}
