/// When processes began, by Linux's `/proc`: a number is given again.
enum ProcessStart {
    /// Returns when a process began, in the kernel's ticks since the boot; `nil` for a process that is not there. The 22nd field of `/proc/PID/stat`
    /// (proc(5)); the second one, a name in parentheses, may hold blanks.
    static func of(_ process: Int32) -> UInt64? {
        guard let bytes = try? OpenFile.reading("/proc/\(process)/stat").readBytes(1024, at: 0),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }
}
