import FerrySpool

/// Where one machine's segments go: its spool, and what its limits have counted.
struct Station: Sendable {
    let handler: SegmentHandler
    let account: MachineAccount

    var usage: SpoolUsage { account.usage }
    var meter: RateMeter { account.meter }
    var requests: RequestCount { account.requests }
    var spool: Spool { handler.spool }
}
