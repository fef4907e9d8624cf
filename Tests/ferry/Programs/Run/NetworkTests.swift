import FerrySpool
import Foundation
import TestSupport
import Testing

/// Two hosts on one machine: network namespaces with a cable between them.
@Suite("Networks that come and go", .serialized)
struct NetworkTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private static let ip = Program.find("ip")

    /// Whether this machine lets us make networks. Containers often do not.
    private static func isAllowed() async -> Bool {
        guard let ip, geteuid() == 0 else { return false }
        let name = "ferry-probe-\(UInt32.random(in: 0...UInt32.max))"
        for verb in ["add", "delete"] {
            guard await (try? ChildProcess(ip, ["netns", verb, name]))?.end() == 0 else { return false }
        }
        return true
    }

    /// A pair of hosts, `machine` and `hub`.
    private struct Hosts {
        let machine = "ferry-m-\(getpid())"
        let hub = "ferry-h-\(getpid())"

        func run(_ words: String) async throws {
            let words = words.replacingOccurrences(of: "MACHINE", with: machine).replacingOccurrences(of: "HUB", with: hub)
            let result = try await Program(NetworkTests.ip!).start(words.split(separator: " ").map(String.init)).end()
            #expect(result.status == 0, "ip \(words): \(result.errors)")
        }

        func start(in host: String, _ arguments: [String]) throws -> Running {
            try Program(NetworkTests.ip!).start(["netns", "exec", host, Program.ferry] + arguments)
        }

        func make() async throws {
            for host in ["MACHINE", "HUB"] {
                try await run("netns add \(host)")
                try await run("-n \(host) link set lo up")
            }
        }

        /// A cable from the machine's `name` to the hub.
        func connect(_ name: String, net: Int) async throws {
            try await run("link add \(name) netns MACHINE type veth peer name h\(net) netns HUB")
            try await run("-n HUB addr add 10.77.\(net).2/24 dev h\(net)")
            try await run("-n HUB link set h\(net) up")
            try await run("-n MACHINE addr add 10.77.\(net).1/24 dev \(name)")
        }

        func remove() async {
            for host in [machine, hub] { _ = try? await Program(NetworkTests.ip!).run("netns", "delete", host) }
        }
    }

    private func put(_ second: Int) throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second))
    }

    private func arrives(_ count: Int) async throws {
        let hub = try Spool.open(folder("hub"), access: .read)
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end, try hub.pending().count < count { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try hub.pending().count == count)
    }

    @Test(
        "Without a route nothing is tried; with one everything leaves at once; a modem is used only when allowed",
        .enabled("needs root, iproute2 and network namespaces") { await isAllowed() })
    func comesAndGoes() async throws {
        let hosts = Hosts()
        do {
            try await hosts.make()
            try await hosts.connect("eth0", net: 1)
            try await hosts.connect("wwan0", net: 2)
            // The hub has an address behind both cables.
            try await hosts.run("-n HUB addr add 10.99.0.1/32 dev lo")
            let hub = try hosts.start(
                in: hosts.hub, ["receive", "--insecure", "--listen", "10.99.0.1:8787", "--spool", folder("hub")])
            _ = try await hub.waitFor("listening")

            try put(1)
            let run = try hosts.start(
                in: hosts.machine, ["run", "--spool", folder("spool"), "--to", "http://10.99.0.1:8787/v1/segments"])
            _ = try await run.waitFor("no route")
            #expect(try Spool.open(folder("spool"), access: .read).destinations.states().isEmpty, "no attempt burns")

            // The cable is plugged in.
            try await hosts.run("-n MACHINE link set eth0 up")
            try await hosts.run("-n MACHINE route add default via 10.77.1.2")
            _ = try await run.waitFor("by eth0")
            try await arrives(1)

            // And out, and in again.
            try await hosts.run("-n HUB link set h1 down")
            try await waitForCount(2, of: "there is no route", in: run)
            try put(2)
            try await hosts.run("-n HUB link set h1 up")
            try await arrives(2)
            #expect(try Spool.open(folder("spool"), access: .read).destinations.states().isEmpty, "no attempt burns")

            // The route moves to the modem.
            try await hosts.run("-n MACHINE link set wwan0 up")
            try await hosts.run("-n MACHINE route replace default via 10.77.2.2")
            _ = try await run.waitFor("by wwan0, which is not allowed")
            try put(3)
            run.send(SIGTERM)
            #expect(await run.end().status == 0)
            let allowed = try hosts.start(
                in: hosts.machine,
                [
                    "run", "--spool", folder("spool"), "--to", "http://10.99.0.1:8787/v1/segments", "--set",
                    "interfaces.allow=wwan0",
                ])
            try await arrives(3)
            // Back to the cable: what was under way on the modem is nobody's fault.
            try await hosts.run("-n MACHINE route replace default via 10.77.1.2")
            _ = try await allowed.waitFor("by eth0")
            try put(4)
            try await arrives(4)
            allowed.send(SIGTERM)
            _ = await allowed.end()
            hub.send(SIGTERM)
            _ = await hub.end()
        } catch {
            await hosts.remove()
            throw error
        }
        await hosts.remove()
    }

    @Test(
        "The route to the hub decides, not the default route: by name over the cable, and never by name over a modem",
        .enabled("needs root, iproute2 and network namespaces") { await isAllowed() })
    func routeToHub() async throws {
        let hosts = Hosts()
        do {
            try await hosts.make()
            try await hosts.connect("eth0", net: 1)
            try await hosts.connect("wwan0", net: 2)
            for name in ["eth0", "wwan0"] { try await hosts.run("-n MACHINE link set \(name) up") }
            let hub = try hosts.start(
                in: hosts.hub, ["receive", "--insecure", "--listen", "0.0.0.0:8787", "--spool", folder("hub")])
            _ = try await hub.waitFor("listening")
            try "10.77.1.2 cable.test\n10.77.2.2 modem.test\n".write(toFile: folder("hosts"), atomically: true, encoding: .utf8)
            try put(1)

            // Everything else goes over the modem; the hub is behind the cable.
            try await hosts.run("-n MACHINE route add default via 10.77.2.2")
            let cable = try startByName(hosts, "cable.test")
            _ = try await cable.waitFor("by eth0")
            try await arrives(1)
            cable.send(SIGTERM)
            _ = await cable.end()

            // And the other way round.
            try await hosts.run("-n MACHINE route replace default via 10.77.1.2")
            try put(2)
            let modem = try startByName(hosts, "modem.test")
            _ = try await modem.waitFor("by wwan0, which is not allowed")
            #expect(try Spool.open(folder("hub"), access: .read).pending().count == 1)
            try await hosts.run("-n MACHINE link set wwan0 down")
            _ = try await modem.waitFor("by eth0")
            modem.send(SIGTERM)
            _ = await modem.end()
            hub.send(SIGTERM)
            _ = await hub.end()
        } catch {
            await hosts.remove()
            throw error
        }
        await hosts.remove()
    }

    /// `ip netns exec` gives its program a mount namespace of its own, so the table of names there belongs to it alone.
    private func startByName(_ hosts: Hosts, _ name: String) throws -> Running {
        let run = "exec \(Program.ferry) run --spool \(folder("spool")) --to http://\(name):8787/v1/segments"
        return try Program(NetworkTests.ip!).start([
            "netns", "exec", hosts.machine, "/bin/sh", "-c", "mount --bind \(folder("hosts")) /etc/hosts && \(run)",
        ])
    }

    private func waitForCount(_ count: Int, of text: String, in run: Running) async throws {
        try await eventually("'\(text)' in: \(run.errors)") { run.errors.components(separatedBy: text).count > count }
    }
}
