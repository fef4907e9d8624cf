import FerrySpool

/// What is to be done once ``DeliveryState`` has decided, outside of it.
enum DeliveryEffect: Sendable {
    /// Writes down what became of a request's segments. ``DeliveryState/recorded(_:_:halves:at:)`` then hears what is left of them.
    case record(JudgedRequest)
    /// Writes the circuit breaker's state into the spool of a queue, where the next process looks for it.
    case saveBreaker(queue: Int)
}
