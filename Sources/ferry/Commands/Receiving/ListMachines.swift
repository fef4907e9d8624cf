import ArgumentParser
import FerryReceiver
import FerrySpool

struct ListMachines: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the machines of a hub, their limits and what is pending of each.",
        discussion: "Example: ferry machine list --machines hub")

    @OptionGroup var hub: HubOptions
    @OptionGroup var output: JSONOption

    func run() throws {
        let list = try hub.list()
        let rows = list.machines.map { MachineRow($0, at: hub.folder.spoolPath(of: $0.name), now: .now()) }
        if output.json {
            for row in rows { try StandardOutput.print(row.jsonLine()) }
        } else {
            for line in MachineRow.table(rows).lines { try StandardOutput.print(line) }
        }
        try StandardOutput.flush()
        for problem in list.problems { Log(isQuiet: false).warn(problem) }
        guard list.problems.isEmpty else { throw ExitCode(ExitStatus.badConfiguration.rawValue) }
    }
}

/// What is shown of a machine.
private struct MachineRow: Encodable {
    let name: String
    let since: Timestamp
    let tokens: Int
    let certificates: Int
    let isRevoked: Bool
    let maxBytes: Int64?
    let bytesPerSecond: Int64?
    let priority: Int?
    /// `nil` when the spool cannot be looked at.
    let pendingSegments: Int?
    let pendingBytes: Int64?

    init(_ machine: Machine, at path: String, now: Timestamp) {
        name = machine.name.text
        since = machine.since
        tokens = machine.tokens.count { $0.until.map { now < $0 } ?? true }
        certificates = machine.certificates.count
        isRevoked = tokens == 0 && certificates == 0
        maxBytes = machine.limits.bytes?.bytes
        bytesPerSecond = machine.limits.rate?.bytes
        priority = machine.limits.priority.map { Int($0.level) }
        let entries = try? Spool.open(path, access: .read).scan(sizes: true).entries
        pendingSegments = entries?.count
        pendingBytes = entries?.reduce(0) { $0.adding($1.size?.bytes ?? 0) }
    }

    static func table(_ rows: [MachineRow]) -> Table {
        var table = Table(
            ["NAME", "SINCE", "KNOWN BY", "MAX BYTES", "RATE", "PRIORITY", "PENDING", "BYTES"], rightAligned: [3, 4, 5, 6, 7])
        for row in rows { table.add(row.cells) }
        return table
    }

    private var cells: [String] {
        var known: [String] = []
        if tokens > 0 { known.append(counted(tokens, "token")) }
        if certificates > 0 { known.append(counted(certificates, "certificate")) }
        return [
            name, since.rfc3339, isRevoked ? "revoked" : known.joined(separator: ", "),
            maxBytes.map { "\(ByteCount($0))" } ?? "-", bytesPerSecond.map { "\(ByteCount($0))/s" } ?? "-",
            priority.map { "\($0)" } ?? "-", pendingSegments.map { "\($0)" } ?? "?",
            pendingBytes.map { "\(ByteCount($0))" } ?? "?",
        ]
    }
}
