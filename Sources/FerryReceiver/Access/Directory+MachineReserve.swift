import FerrySpool
import Glibc

extension Directory {
    private static let reserveName = ".machines.reserve"
    private static let leastReserve = 1 << 15

    /// Replaces the list of machines. Where the disk is full, the room that was set aside for it is used: a machine that has filled the disk can be
    /// revoked all the same.
    func replaceWithReserve(_ name: String, with bytes: [UInt8]) throws(FileError) {
        defer { keepReserve(for: bytes.count) }
        do throws(FileError) {
            try replace(name, with: bytes, durable: true)
        } catch {
            guard error.isDiskFull, (try? contains(Self.reserveName)) == true, (try? remove(Self.reserveName)) != nil else {
                throw error
            }
            try replace(name, with: bytes, durable: true)
        }
    }

    /// Sets room aside for the next list, which may be longer, where the disk has it.
    private func keepReserve(for size: Int) {
        let wanted = max(Self.leastReserve, 2 * min(size, Int(MachineList.longest.bytes)))
        if let status = (try? status(Self.reserveName)) ?? nil, min(status.size, status.allocated).bytes >= wanted { return }
        try? remove(Self.reserveName)
        guard let file = try? create(Self.reserveName) else { return }
        if posix_fallocate(file.descriptor, 0, off_t(wanted)) != 0 { try? remove(Self.reserveName) }
    }
}
