import FoundationEssentials

/// systemd unit files, hardened, with `Type=notify`.
enum SystemdUnits {
    /// This program's own path.
    static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/usr/local/bin/ferry"
    }

    static func service(program: String, config: String, user: String, writable: [String]) -> String {
        """
        [Unit]
        Description=Ferry: keeps spools of events delivered
        After=network.target
        StartLimitIntervalSec=0

        [Service]
        Type=notify
        NotifyAccess=main
        ExecStart=\(quoted(program)) run --config \(quoted(config)) --quiet
        ExecReload=/bin/kill -HUP $MAINPID
        User=\(user)
        Restart=on-failure
        RestartSec=10s
        # A bad configuration does not become good by trying again.
        RestartPreventExitStatus=78
        WatchdogSec=120s
        # Ferry ends within 10 s.
        TimeoutStopSec=20s
        # Paths of the spools, and of a destination that is a folder.
        ReadWritePaths=\(writable.map { quoted("-" + $0) }.joined(separator: " "))
        \(hardening)
        [Install]
        WantedBy=multi-user.target

        """
    }

    static func upload(program: String, spool: String, to: String, user: String, writable: [String]) -> String {
        """
        [Unit]
        Description=Ferry: sends what is due in \(spool)
        After=network-online.target
        Wants=network-online.target

        [Service]
        Type=oneshot
        ExecStart=\(quoted(program)) upload --spool \(quoted(spool)) --to \(quoted(to))
        User=\(user)
        # Some remain and are retried at the next call.
        SuccessExitStatus=75
        TimeoutStartSec=1h
        ReadWritePaths=\(writable.map { quoted("-" + $0) }.joined(separator: " "))
        \(hardening)
        """
    }

    static func timer(every calendar: String) -> String {
        """
        [Unit]
        Description=Ferry: sends what is due, now and then

        [Timer]
        OnCalendar=\(calendar)
        # Many machines do not call in the same second.
        RandomizedDelaySec=60s
        Persistent=true

        [Install]
        WantedBy=timers.target

        """
    }

    /// What Ferry needs is its spools, the network, and the events of routes (netlink).
    private static let hardening = """
        NoNewPrivileges=true
        ProtectSystem=strict
        ProtectHome=read-only
        PrivateTmp=true
        PrivateDevices=true
        ProtectClock=true
        ProtectControlGroups=true
        ProtectHostname=true
        ProtectKernelLogs=true
        ProtectKernelModules=true
        ProtectKernelTunables=true
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
        RestrictNamespaces=true
        RestrictRealtime=true
        RestrictSUIDSGID=true
        LockPersonality=true
        MemoryDenyWriteExecute=true
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH
        UMask=0077

        """

    /// Returns an argument quoted as systemd splits command lines (systemd.service(5)).
    private static func quoted(_ text: String) -> String {
        let escaped = text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
        guard escaped.contains(where: { $0 == " " || $0 == "\"" || $0 == "\\" || $0 == "$" }) else { return escaped }
        let inner = escaped.reduce(into: "") { inner, character in
            switch character {
            case "\"", "\\": inner += "\\\(character)"
            case "$": inner += "$$"
            default: inner.append(character)
            }
        }
        return "\"\(inner)\""
    }
}
