import Glibc

/// Random UUIDs (RFC 9562, version 4), many from one system call, so that they cost nothing.
struct EventIDSource {
    private var pool: [UInt8] = []
    private var position = 0

    /// What getentropy(3) gives at once.
    private static let poolSize = 256

    mutating func next() -> EventID {
        if position == pool.count {
            if pool.isEmpty { pool = [UInt8](repeating: 0, count: Self.poolSize) }
            let status = getentropy(&pool, Self.poolSize)
            precondition(status == 0, "the kernel gives 256 random bytes at any time")
            position = 0
        }
        defer { position += 16 }
        return pool.withUnsafeBytes { EventID(random: $0.loadUnaligned(fromByteOffset: position, as: (UInt64, UInt64).self)) }
    }
}
