import HTTPTypes

/// A request that was answered with an error.
public struct Refusal: Sendable {
    /// Where the request came from.
    public let sender: Sender
    /// The HTTP status of the answer.
    public let status: Int
    /// The reason, for the log.
    public let reason: String
    /// Whether a ``ReceiverEvent/failed(_:from:)`` has told the cause already.
    public let isToldAsFailure: Bool

    /// Describes a refused request.
    ///
    /// - Parameter reason: The text for the log, instead of the one that the client gets.
    init(_ refused: RefusedRequestError, from sender: Sender, reason: String? = nil) {
        self.sender = sender
        status = refused.status.code
        self.reason = reason ?? refused.detail ?? refused.message
        isToldAsFailure = refused.isFailure
    }
}
