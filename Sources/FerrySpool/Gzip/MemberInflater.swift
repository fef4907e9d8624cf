#if Libdeflate
    import CLibdeflate
    import Synchronization
#endif

/// Inflates gzip members that are whole in memory, as ``GzipWriter`` makes them: by libdeflate, where that is built in.
///
/// It only ever says what a member holds when header, note, checksum and length agree. All else is for zlib, which names damage and its place.
package enum MemberInflater {
    /// How large a member is inflated whole.
    package struct Size: Sendable {
        let text: Int
        /// Text that compresses worse than by half is rare, and inflates by zlib.
        var member: Int { text / 2 }

        /// Receivers hold this much text for each core, and half as much for each connection.
        package static let oneOfMany = Size(text: longestText)
        /// As large as segments are by default: for what reads one file after the other.
        package static let oneAtATime = Size(text: 1 << 24)
    }

    static let longestText = 1 << 20
    /// Text for a byte of a member. What is denser may be a bomb, and bombs are noticed while they inflate.
    private static let highestRatio: Int64 = 256

    /// The length of the member that begins with these bytes.
    enum Start: Equatable {
        case member(GzipMemberCounts)
        /// It may be such a member; there is too little of it to tell.
        case incomplete
        case unsuitable
    }

    #if Libdeflate
        /// Looks at the first bytes of a member.
        static func start(_ bytes: UnsafeRawBufferPointer, _ largest: Size) -> Start {
            let isOwn = zip(bytes, GzipMemberCounts.headerStart).allSatisfy { $0 == $1 }
            guard isOwn else { return .unsuitable }
            guard bytes.count >= GzipMemberCounts.headerLength else { return .incomplete }
            guard let note = GzipMemberCounts(ownHeader: bytes), note.uncompressed <= largest.text,
                note.memberLength <= largest.member,
                note.uncompressed / highestRatio <= note.memberLength
            else { return .unsuitable }
            return .member(note)
        }

        /// Inflates a whole member.
        ///
        /// - Parameter member: As many bytes as `note` says.
        /// - Returns: Whether `body` was called with the text; otherwise the member is not what its note says.
        static func inflate(
            _ member: UnsafeRawBufferPointer, _ note: GzipMemberCounts, _ body: (UnsafeRawBufferPointer) throws -> Void
        ) rethrows -> Bool {
            let data = UnsafeRawBufferPointer(
                rebasing: member[GzipMemberCounts.headerLength..<member.count - GzipMemberCounts.trailerLength])
            let trailer = UnsafeRawBufferPointer(rebasing: member[(member.count - GzipMemberCounts.trailerLength)...])
            let workspace = Workspace.take()
            defer { workspace.giveBack() }
            let length = Int(note.uncompressed)
            let isLarge = length > workspace.text.count
            // Where there is no memory for it, zlib has room enough.
            guard let held = HeldBytes(capacity: isLarge ? length : 0) else { return false }
            defer { withExtendedLifetime(held) {} }
            let text = isLarge ? held.room : UnsafeMutableRawBufferPointer(rebasing: workspace.text[..<length])
            var (consumed, produced) = (0, 0)
            let result = libdeflate_deflate_decompress_ex(
                workspace.decompressor, data.baseAddress, data.count, text.baseAddress, text.count, &consumed, &produced)
            guard result == LIBDEFLATE_SUCCESS, consumed == data.count, produced == text.count,
                UInt32(littleEndian: trailer.loadUnaligned(as: UInt32.self)) == libdeflate_crc32(0, text.baseAddress, text.count),
                UInt32(littleEndian: trailer.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) == UInt32(note.uncompressed)
            else { return false }
            try body(UnsafeRawBufferPointer(text))
            return true
        }

        /// What inflating a member takes. A few are kept for the next members, on any thread.
        private struct Workspace {
            let decompressor: OpaquePointer
            let text: UnsafeMutableRawBufferPointer

            private init() {
                // It fails for want of memory alone, where every allocation of Swift's ends the process too.
                guard let decompressor = libdeflate_alloc_decompressor() else { fatalError("no memory for a decompressor") }
                self.decompressor = decompressor
                text = .allocate(byteCount: longestText, alignment: 64)
            }

            /// As many as most machines have cores.
            private static let kept = 4
            // The pointers lead to memory that one holder at a time has.
            private struct Waiting: @unchecked Sendable { var workspaces: [Workspace] = [] }
            private static let waiting = Mutex(Waiting())

            // Never waits for the lock: a child of a fork may find it held for ever.
            static func take() -> Workspace {
                let found = waiting.withLockIfAvailable { $0.workspaces.popLast() }
                return (found ?? nil) ?? Workspace()
            }

            func giveBack() {
                let isKept = Self.waiting.withLockIfAvailable { waiting in
                    guard waiting.workspaces.count < Self.kept else { return false }
                    waiting.workspaces.append(self)
                    return true
                }
                if isKept == true { return }
                libdeflate_free_decompressor(decompressor)
                text.deallocate()
            }
        }
    #else
        static func start(_ bytes: UnsafeRawBufferPointer, _ largest: Size) -> Start { .unsuitable }

        static func inflate(
            _ member: UnsafeRawBufferPointer, _ note: GzipMemberCounts, _ body: (UnsafeRawBufferPointer) throws -> Void
        ) rethrows -> Bool { false }
    #endif
}
