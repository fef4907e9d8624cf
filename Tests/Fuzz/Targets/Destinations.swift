@testable import FerrySpool
@testable import FerryUpload

extension FuzzTarget {
    /// Destinations and where they redirect to: the first line is a URL, all others are `Location` headers.
    static let urls = FuzzTarget("urls", longest: 512) { bytes in
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard let first = lines.first, let url = try? DestinationURL(first) else { return }
        try expectSound(url)
        for location in lines.dropFirst() {
            guard let next = url.redirected(to: location, from: url.target) else { continue }
            try expectSound(next)
            try expect(next.origin.isSecure || !url.origin.isSecure, "no redirect leads to something less secure")
            guard case .unixSocket = next.origin.address else { continue }
            try expect(next.origin == url.origin, "no redirect leads to a socket of this machine")
        }
    }

    /// What goes into a request is one line of visible ASCII.
    private static func expectSound(_ url: DestinationURL) throws {
        func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } && !text.isEmpty }
        try expect(isVisible(url.origin.hostHeader), "a host is visible ASCII")
        try expect(isVisible(url.target), "a target is visible ASCII")
        try expect(isVisible(url.target { _ in "a b\r\n{id}%\u{e9}" }), "a target with values is visible ASCII")
        try expect(url.target.hasPrefix("/"), "a target begins with a slash")
        try expect(!url.description.isEmpty, "a URL can be told")
        switch url.origin.address {
        case .host(let host, let port):
            try expect(!host.isEmpty && (1...65_535).contains(port), "a host and a port are there")
        case .unixSocket(let path):
            try expect(path.hasPrefix("/") && !path.utf8.contains(0), "a socket's path is one")
        }
    }

    /// Proxies from the environment: one line each for `HTTPS_PROXY` and `NO_PROXY`, and a host.
    static let proxies = FuzzTarget("proxies", longest: 300) { bytes in
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        var environment: [String: String] = [:]
        for (name, line) in zip(["HTTPS_PROXY", "NO_PROXY"], lines) { environment[name] = line }
        guard let settings = try? ProxySettings(environment: environment) else { return }
        let host = lines.count > 2 ? lines[2] : "hub.example"
        guard let proxy = settings.proxy(for: Origin(isSecure: true, address: .host(host, port: 443))) else { return }
        try expect((1...65_535).contains(proxy.port), "a port is one")
        try expect(proxy.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } && !proxy.host.isEmpty, "a host is visible ASCII")
        try expect(proxy.authorization?.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } ?? true, "credentials are one line")
    }

    /// What proxies answer to CONNECT.
    static let tunnelAnswers = FuzzTarget("tunnel-answers", longest: 1024) { bytes in
        var answer = TunnelAnswer()
        let whole = answer.read(bytes)
        answer = TunnelAnswer()
        var reading = TunnelAnswer.Reading.more
        var taken = 0
        for byte in bytes where reading == .more {
            reading = answer.read([byte])
            taken += 1
        }
        // What came through the tunnel already is as much as was taken too much.
        if case .open = reading { reading = .open(rest: Array(bytes[taken...])) }
        try expect(reading == whole, "an answer reads the same byte by byte")
        if case .refused(let status) = whole { try expect((300..<600).contains(status), "a refusal is one") }
    }

    /// `Retry-After`: its line, and then one of `Date`.
    static let retryAfter = FuzzTarget("retry-after", longest: 100) { bytes in
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let now = Timestamp(milliseconds: 1_793_000_000_000)
        for date in [nil, lines.dropFirst().first] {
            guard let wait = RetryAfter.parse(lines[0], now: now, serverDate: date) else { continue }
            try expect(wait >= .zero && wait <= RetryAfter.longest, "a wait is within its bounds")
        }
    }

    /// Answers: three bytes for the status, then a line of `Location` or `Ferry-Accepts`, then the body.
    static let answers = FuzzTarget("answers", longest: 512) { bytes in
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard let status = Int(parts[0]), (0...999).contains(status) else { return }
        let location = parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
        let body = parts.count > 2 ? String(parts[2]) : ""
        if let joined = location.flatMap(AcceptedBodiesField.mostJoined) {
            try expect(joined > .zero, "what is taken is something")
            let written = AcceptedBodiesField.text(mostJoined: joined)
            try expect(AcceptedBodiesField.mostJoined(written) == joined, "what is written is read again")
        }
        for isWhole in [false, true] {
            let verdict = Verdict(
                status: status, retryAfter: nil, location: location, body: body, isToWholeRequest: isWhole)
            guard case .delivered = verdict else { continue }
            try expect(isWhole && (200..<300).contains(status), "only 2xx to a whole request is a delivery")
        }
    }
}
