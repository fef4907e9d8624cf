/// What tells one boot of the machine from every other: Linux's `/proc/sys/kernel/random/boot_id` (random(4)).
enum BootID {
    /// Characters of a boot's ID, a UUID.
    static let length = 36

    /// `nil` where the kernel does not tell.
    static let current: String? = {
        guard let bytes = try? OpenFile.reading("/proc/sys/kernel/random/boot_id").readBytes(length, at: 0) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.count == length ? text : nil
    }()
}
