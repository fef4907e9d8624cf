import FoundationEssentials

/// systemd unit files, hardened.
struct SystemdUnits {
    /// The path of the program that the units call.
    let program: String
    let user: String
    /// The arguments behind the command's name.
    let arguments: ServiceArguments
    /// Folders that the command writes to.
    let writable: [String]

    /// This program's own path.
    static var ownProgram: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/usr/bin/ferry"
    }

    /// `ferry run`, which tells systemd how it is.
    var run: String {
        """
        [Unit]
        Description=Ferry: keeps spools of events delivered
        After=network.target
        StartLimitIntervalSec=0

        [Service]
        Type=notify
        NotifyAccess=main
        ExecStart=\(command("run"))
        ExecReload=/bin/kill -HUP $MAINPID
        User=\(Self.setting(user))
        Restart=on-failure
        RestartSec=10s
        # A bad configuration does not become good by trying again.
        RestartPreventExitStatus=64 78
        WatchdogSec=120s
        # Ferry ends within 10 s.
        TimeoutStopSec=20s
        \(writablePaths)
        \(Self.hardening)
        [Install]
        WantedBy=multi-user.target

        """
    }

    /// `ferry upload`, called by a timer. systemd hands it the files with secrets: the user needs no access to them.
    var upload: String {
        """
        [Unit]
        Description=Ferry: sends what is due
        After=network-online.target
        Wants=network-online.target

        [Service]
        Type=oneshot
        ExecStart=\(command("upload", credentials: ServiceArguments.secrets))
        \(credentials)User=\(Self.setting(user))
        # Some remain and are retried at the next call.
        SuccessExitStatus=75
        TimeoutStartSec=1h
        \(writablePaths)
        \(Self.hardening)
        """
    }

    /// `ferry receive`.
    ///
    /// - Parameter port: What it listens on; the first 1,023 are for programs with a capability.
    func receive(port: Int) -> String {
        let capability = "CAP_NET_BIND_SERVICE"
        return """
            [Unit]
            Description=Ferry: takes segments over HTTP
            After=network-online.target
            Wants=network-online.target
            StartLimitIntervalSec=0

            [Service]
            Type=exec
            ExecStart=\(command("receive"))
            User=\(Self.setting(user))
            Restart=on-failure
            RestartSec=10s
            RestartPreventExitStatus=64 78
            # Requests under way are finished within 10 s.
            TimeoutStopSec=20s
            \(writablePaths)
            \((1...1023).contains(port) ? "AmbientCapabilities=\(capability)\nCapabilityBoundingSet=\(capability)\n" : "")\(Self.hardening)
            [Install]
            WantedBy=multi-user.target

            """
    }

    static func timer(every calendar: String) -> String {
        """
        [Unit]
        Description=Ferry: sends what is due, now and then

        [Timer]
        OnCalendar=\(setting(calendar))
        # Many machines do not call in the same second.
        RandomizedDelaySec=60s
        Persistent=true

        [Install]
        WantedBy=timers.target

        """
    }

    /// What Ferry needs is its spools, the network, and the events of routes (netlink). Root gives what it makes in another user's spool to that user,
    /// for which it has its capabilities; folders of a shared spool have the set-group-ID bit, which `RestrictSUIDSGID` would forbid.
    static let hardening = """
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
        LockPersonality=true
        MemoryDenyWriteExecute=true
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER
        UMask=0077

        """

    private var writablePaths: String {
        // With a hyphen, as a file system that is mounted later must not keep the service from its start.
        "# All that it writes to.\nReadWritePaths=\(writable.map { Self.quoted(Self.setting("-" + $0)) }.joined(separator: " "))"
    }

    private var credentials: String {
        guard user != "root" else { return "" }
        return ServiceArguments.secrets.sorted().compactMap { option in
            arguments.values(of: [option]).last.map {
                // The rest of the line is the path, with its spaces: quotes would be a part of it.
                "LoadCredential=\(Self.setting("\(option.dropFirst(2)):\($0)"))\n"
            }
        }.joined()
    }

    /// The command line, as systemd splits it (systemd.service(5)).
    private func command(_ name: String, credentials: Set<String> = []) -> String {
        var line = [Self.quoted(Self.setting(program)), name]
        var secret: String?
        for word in arguments.words {
            defer { secret = user != "root" && credentials.contains(word) ? word : nil }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if let secret {
                line.append("${CREDENTIALS_DIRECTORY}/\(secret.dropFirst(2))")
            } else if user != "root", parts.count == 2, credentials.contains(parts[0]) {
                line.append("\(parts[0])=${CREDENTIALS_DIRECTORY}/\(parts[0].dropFirst(2))")
            } else {
                line.append(Self.quoted(Self.setting(word).replacing("$", with: "$$")))
            }
        }
        return line.joined(separator: " ")
    }

    /// Returns a text without what systemd replaces in settings.
    private static func setting(_ text: String) -> String { text.replacing("%", with: "%%") }

    /// Returns a word that systemd takes as one.
    private static func quoted(_ text: String) -> String {
        guard text.isEmpty || text.contains(where: { $0.isWhitespace || "\"'\\;".contains($0) }) else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
