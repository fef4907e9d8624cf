import Glibc

/// Asks systemd whether it understands a time of a timer's.
enum CalendarCheck {
    /// Returns whether `systemd-analyze calendar` refuses a text. Where that program is missing, nothing is refused.
    static func refuses(_ text: String) -> Bool {
        var actions = posix_spawn_file_actions_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return false }
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = []
        for word in ["systemd-analyze", "calendar", "--", text] { arguments.append(strdup(word)) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, "systemd-analyze", &actions, nil, &arguments, environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return false } }
        // 127: the program was not there after all.
        return status != 0 && status >> 8 & 0xff != 127
    }
}
