/// What the process may do besides what its user may (capabilities(7)).
enum Capabilities {
    /// `CAP_FOWNER`: change files of other users as if they were its own. As it was at the first look; where the kernel does not tell, it may.
    static let overrideOwners: Bool = {
        guard let bytes = try? OpenFile.reading("/proc/self/status").readBytes(1 << 14, at: 0),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let effective = UInt64(line.dropFirst(field.count).drop(while: \.isWhitespace), radix: 16)
        else { return true }
        return effective & 1 << fileOwner != 0
    }()

    private static let field = "CapEff:"
    private static let fileOwner: UInt64 = 3
}
