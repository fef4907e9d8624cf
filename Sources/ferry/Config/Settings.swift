import FerrySpool
import FerryUpload

/// Every setting there is. `ferry config show` prints them in this order.
enum Settings {
    static let all: [Setting] = [
        Setting(
            "profile", default: "ferry", "Which SDK's numbers to begin with.", problem: oneOf(Profile.allCases.map(\.rawValue))),
        Setting("spools", isList: true, "Spool folders; dir/* means every folder in dir."),
        Setting("to", "Where to send, as with ferry upload --to.", problem: url),
        Setting("method", default: "POST", "The HTTP method.", problem: method),
        Setting("headers", isList: true, "Headers for every request, 'Name: value'; no secrets.", problem: header),
        Setting(
            "body", default: "ndjson",
            "What requests carry: the segment as it is (ndjson), or its events as json-array, sensors, appcenter, measurement, otlp, elastic, loki or splunk.",
            problem: oneOf(BodyForm.allCases.map(\.rawValue))),
        Setting(
            "request-events", default: "auto", profiles: [.appcenter: "50", .googleAnalytics: "20", .sensors: "50"],
            "With another body than ndjson: at most this many events a request, or off; auto: what its servers take.",
            problem: auto(off(number(1...Int.max)))),
        Setting(
            "request-bytes", default: "auto", profiles: [.googleAnalytics: "16KB"],
            "With another body than ndjson: at most this many bytes a request, before they are compressed, or off; auto: what its servers take.",
            problem: auto(off(size))),
        Setting("tracking-id", "With body: measurement, the property's ID, UA-XXXX-Y."),
        Setting("token-file", "A file with a bearer token; read again when it changes.", problem: readable),
        Setting(
            "header-file", "A file with secret headers, one 'Name: value' a line; read again when it changes.", problem: readable),
        Setting(
            "credentials-file",
            "For s3://, the keys as in ~/.aws/credentials; for clickhouse://, lines 'user = …' and 'password = …'; read again when it changes.",
            problem: readable),
        Setting("tls.ca", "Certificates to trust instead of the system's (PEM).", problem: readable),
        Setting("tls.cert", "The client's certificate (PEM).", problem: readable),
        Setting("tls.key", "The key of tls.cert (PEM).", problem: readable),
        Setting(
            "timeout", default: "30s", profiles: [.appcenter: "60s"],
            "Give up when the other side takes and sends nothing for this long.",
            problem: positive),
        Setting("connect-timeout", default: "10s", "Give up connecting after this long.", problem: positive),
        Setting(
            "parallel", default: "3", profiles: [.googleAnalytics: "1", .sensors: "1"], "Requests at once, 1 to 256.",
            problem: number(1...256)),
        Setting(
            "order", default: "priority", profiles: [.googleAnalytics: "strict", .sensors: "strict"],
            "priority: what must wait is passed by; live: so, too, and what is younger than five minutes goes before the backlog, which gets every fifth turn; strict: nothing passes what must wait.",
            problem: oneOf(SendOrder.allCases.map(\.rawValue))),
        Setting(
            "interval", default: "60s", profiles: [.appcenter: "6s", .googleAnalytics: "120s", .sensors: "15s"],
            "Send everything when its oldest event is this old; 0s or less: only when asked (flush, SIGUSR1).", problem: interval),
        Setting(
            "threshold.events", default: "1", profiles: [.appcenter: "50", .googleAnalytics: "off", .sensors: "100"],
            "Send when this many events are stored; 1: each segment at once.", problem: off(number(1...Int.max))),
        Setting("threshold.bytes", default: "off", "Send when this much is stored.", problem: off(size)),
        Setting(
            "critical-delay", default: "0s", profiles: [.appcenter: "3s", .googleAnalytics: "off", .sensors: "off"],
            "Send critical segments (priority 0) when their oldest event is this old.", problem: off(duration)),
        Setting(
            "back-off.intervals", isList: true, default: "10s, 1m, 5m, 20m, 1h",
            profiles: [.appcenter: "10s, 5m, 20m", .googleAnalytics: "120s", .sensors: "15s"],
            "The waits after the first, second, … failure; of none, these.", problem: positive),
        Setting(
            "back-off.jitter", default: "0.5-1.0", profiles: [.googleAnalytics: "1.0-1.0", .sensors: "1.0-1.0"],
            "Each wait is multiplied by a random factor from this range.", problem: jitter),
        Setting(
            "back-off.then", default: "repeat", profiles: [.appcenter: "off"],
            "After the last wait: repeat it, and what failed together goes out one by one; or off: a request is made again as it was, and after its last wait nothing more is sent until the next start.",
            problem: oneOf(["repeat", "off"])),
        Setting(
            "back-off.reject-after", default: "10", profiles: [.appcenter: "off", .googleAnalytics: "off", .sensors: "off"],
            "Reject a segment that failed this often while the destination was well.", problem: off(number(1...Int.max))),
        Setting(
            "coalesce", default: "auto",
            "Join small segments into one request: auto (up to 1 MiB, where Ferry's receiver takes them), off, or a size, 16 MiB at most.",
            problem: coalesce),
        Setting(
            "split-broken", default: "on",
            "Split a segment whose body broke off twice on its way; off: always try it whole; always: even if a try may have arrived.",
            problem: oneOf(SplitPolicy.allCases.map(\.rawValue))),
        Setting(
            "verify", default: "auto", "How closely segments are looked at: auto, always, never.",
            problem: oneOf(Verification.allCases.map(\.rawValue))),
        Setting("inflate-limit", default: "1GiB", "Reject what inflates to more.", problem: size),
        Setting("timezone", default: "UTC", "The time zone of bandwidth and window.", problem: zone),
        Setting("bandwidth", default: "off", "Bytes a second: 500KB/s, or 08:00 100KB, 19:00 off.", problem: off(bandwidth)),
        Setting("window", default: "off", "When sending is allowed: mon-fri 20:00-06:00, sat-sun.", problem: off(window)),
        Setting(
            "due.time", default: "off", profiles: [.googleAnalytics: "04:00"],
            "Data of one local day must arrive by this time of the next.", problem: off(time)),
        Setting("due.timezone", default: "UTC", "The time zone of due.time.", problem: zone),
        Setting(
            "due.late", default: "send", "What becomes of late data: send, hold, drop.",
            problem: oneOf(DueTime.Late.allCases.map(\.rawValue))),
        Setting(
            "max-spool-bytes", default: "off", profiles: [.appcenter: "10MB"],
            "Drop the oldest of the lowest priority above this, and first what is larger by itself. Set, it holds for trackers, too.",
            problem: off(size)),
        Setting(
            "max-spool-age", default: "off", profiles: [.appcenter: "25d"],
            "Drop pending segments that are older. Set, it holds for trackers, too.",
            problem: off(positive)),
        Setting(
            "sent.keep", default: "true", profiles: [.appcenter: "false", .googleAnalytics: "false", .sensors: "false"],
            "Keep delivered segments in sent/.", problem: oneOf(["true", "false"])),
        Setting(
            "sent.max-age", default: "7d",
            "Delete delivered segments that are older; forever or off: never. The default gives way on a full disk, and where sent.keep is set.",
            problem: forever(off(positive))),
        Setting("sent.max-bytes", default: "off", "Delete the oldest delivered segments above this.", problem: off(size)),
        Setting(
            "network.watch", default: "true", "Watch the machine's routes: without one nothing is tried.",
            problem: oneOf(["true", "false"])),
        Setting(
            "interfaces.allow", isList: true,
            "Interfaces that may be used even if interfaces.deny names them: names with * and ?."),
        Setting("interfaces.deny", isList: true, default: "ww*", "Interfaces that may not be used; mobile modems by default."),
        Setting("metrics.listen", default: "off", "Serve OpenMetrics at http://HOST:PORT/metrics.", problem: off(address)),
        Setting(
            "metrics.file", default: "off", "Write metrics for node_exporter's textfile collector, every 15 s.",
            problem: { $0.isEmpty ? "must be a file, or off" : nil }),
        Setting("dashboard.listen", default: "off", "Serve a page for people at http://HOST:PORT/.", problem: off(address)),
        Setting(
            "dashboard.token-file", "A file with the token that readers of the page must show; read again when it changes.",
            problem: readable),
        Setting("log-format", default: "text", "text or json.", problem: oneOf(["text", "json"])),
    ]

    static func named(_ key: String) -> Setting? { all.first { $0.key == key } }
}
