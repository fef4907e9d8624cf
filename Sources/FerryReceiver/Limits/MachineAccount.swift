/// What a machine's limits have counted, also while its spool is closed.
struct MachineAccount: Sendable {
    let usage = SpoolUsage()
    let meter = RateMeter()
    let requests = RequestCount()
}
