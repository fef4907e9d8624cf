public import FerrySpool

/// How the receiver listens and what it accepts.
public struct ReceiverOptions: Sendable {
    /// The address to listen at.
    public var host = "127.0.0.1"
    /// 0 lets the system choose.
    public var port = 8787
    /// The largest body, as it comes.
    public var maxBody = ByteCount.mebibytes(64)
    /// The largest body of several segments that the receiver tells senders to send: they hold it in memory.
    var mostJoined: ByteCount { min(maxBody, .mebibytes(16)) }
    /// The most that a body may inflate to.
    public var inflateLimit = ByteCount.mebibytes(1024)
    /// The longest line that a body may have: as long as `ferry write` and the tracker take them.
    public var longestLine = JSONLineChecker.longestLine
    /// Keys that came longer ago are forgotten; `nil`: none is.
    public var remembersFor: Duration?
    /// Small segments of one sender, priority and stream become larger ones; `nil`: each stays as it came.
    public var gathering: GatherRules?
    /// The bearer token that clients must show; `nil` lets every client in.
    public var token: String?
    /// In place of ``token``: what a file says, which may change.
    package var tokenFile: FollowedFiles<String>?
    /// The PEM file of the certificate for https, read again when it changes.
    public var certificate: String?
    /// The PEM file of the certificate's private key, read again when it changes.
    public var privateKey: String?
    /// A client that sends nothing for this long is disconnected.
    public var idleTimeout = Duration.seconds(30)

    /// How soon what another process left is looked for, and finished.
    package var leftPause = Duration.seconds(30)

    /// The most connections at once.
    public var mostConnections = 2048
    /// The most connections from one address at once: half of ``mostConnections``, so that no address takes all, and at least one.
    package var mostConnectionsPerAddress: Int { max(1, mostConnections / 2) }

    /// How many spools are open at once where machines have a spool each: two descriptors each.
    public var mostOpenSpools = 8192

    /// When it ends, requests that have begun are finished for this long. With the ends of TLS connections that is less than the 10 s after which
    /// Docker, and others, end a service by force.
    public var endPatience = Duration.seconds(8)
    /// Bodies that are not complete after this long are cut off then, so that time is left to answer the others.
    var bodiesEndPatience: Duration { endPatience * 3 / 4 }

    /// Creates the standard options.
    public init() {}

    /// A body may take the idle timeout and this long for each byte: slower than any modem, so a slower client only holds a place.
    static let slowestRate = ByteCount(128)
}
