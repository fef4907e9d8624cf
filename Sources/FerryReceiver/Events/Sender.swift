import FerrySpool

/// Where a request comes from.
public struct Sender: Hashable, Sendable {
    /// The machine that it showed itself to be; `nil` where the receiver has no machines, or knows none by what was shown.
    public let machine: MachineName?
    /// The ID of the spool that it says it sends from: a claim. `nil` where it says none, or what can be none, and where the receiver has machines.
    public let spool: String?
    /// The other side's address.
    public let address: String

    /// Creates the sender of a request that says nothing of itself, or that was not read.
    init(at address: String) {
        (machine, spool) = (nil, nil)
        self.address = address
    }

    /// Creates the sender of a request to a receiver that has machines.
    init(_ machine: MachineName?, at address: String) {
        (self.machine, spool) = (machine, nil)
        self.address = address
    }

    /// Creates the sender of a request to a receiver that has no machines.
    ///
    /// - Parameter spool: What the request says is the ID of the spool that it comes from.
    init(saying spool: String?, at address: String) {
        machine = nil
        self.spool = spool.flatMap { SpoolID.isValid($0) ? $0 : nil }
        self.address = address
    }

    /// What it is called: the machine's name, or the ID of its spool; `nil` where it has neither.
    public var name: String? { machine?.text ?? spool }
}
