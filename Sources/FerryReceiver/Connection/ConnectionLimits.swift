/// What connections a server takes, and for how long.
package struct ConnectionLimits: Sendable {
    /// The most at once.
    package var most: Int
    /// The most at once from one address.
    package var mostPerAddress: Int
    /// How long a connection may stand still before it is closed.
    package var idleTimeout: Duration
    /// How long a body may go on when the server ends.
    package var bodiesEndPatience: Duration

    /// Creates limits.
    package init(most: Int, mostPerAddress: Int, idleTimeout: Duration, bodiesEndPatience: Duration) {
        self.most = most
        self.mostPerAddress = mostPerAddress
        self.idleTimeout = idleTimeout
        self.bodiesEndPatience = bodiesEndPatience
    }
}
