import FerrySpool

extension String {
    /// The text as one word of a shell's command line: quoted where a shell would read more into it.
    var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "_./-@:=+,%".utf8.contains(byte)
                }
            }
        if isPlain { return self }
        // What would be shown as an escape is one that a shell takes (bash, zsh, ksh; POSIX since 2024).
        if printable() != self || unicodeScalars.contains("\t") { return "$'\(utf8.map(Self.escaped).joined())'" }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "'"): "\\'"
        case UInt8(ascii: "\\"): "\\\\"
        case 0x20..<0x7f: String(UnicodeScalar(byte))
        default: "\\x" + String(byte, radix: 16, width: 2)
        }
    }
}
