import HTTPTypes

/// A request that was answered with an error.
public struct Refusal: Sendable {
    /// The machine; `nil` where none is known.
    public let machine: MachineName?
    /// The other side's address.
    public let address: String
    /// The HTTP status of the answer.
    public let status: Int
    /// The reason, for the log.
    public let reason: String

    /// Describes a refused request.
    ///
    /// - Parameter reason: The text for the log, instead of the one that the client gets.
    init(_ refused: RefusedRequestError, machine: MachineName?, address: String, reason: String? = nil) {
        self.machine = machine
        self.address = address
        status = refused.status.code
        self.reason = reason ?? refused.detail ?? refused.message
    }
}
