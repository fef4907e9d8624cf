import FerrySpool

/// How connections are made and how patient they are.
public struct TransportOptions: Sendable {
    /// For name look-up, TCP, proxy and TLS together. curl waits 300 s, Sensors' SDK 30 s; 10 s suits links that come and go.
    public var connectTimeout = Duration.seconds(10)
    /// The longest time in which the other side neither acknowledges a byte nor sends one. 30 s as in Sensors' SDK.
    public var idleTimeout = Duration.seconds(30)
    /// PEM file with the certificates to trust instead of the system's.
    public var certificateAuthority: String?
    /// PEM file of the client's certificate chain (mTLS).
    public var certificate: String?
    /// PEM file of the key of ``certificate``.
    public var privateKey: String?
    /// Proxies by the kind of URL; by default none.
    public var proxies = ProxySettings()

    /// Creates the default options: no proxy, no client certificate, and the system's certificate authorities.
    public init() {}

    /// An answer's body is not waited for longer than this once its head is there: the status decides.
    static let answerBodyPatience = Duration.seconds(5)
    /// What is kept of an answer's body, for `rejected/`.
    static let answerBodyKept = ByteCount.kibibytes(4)
    /// A longer answer is cut off by closing the connection. A receiver's to 256 joined segments has 20 to 40 KB.
    static let answerBodyLimit = ByteCount.kibibytes(64)
    /// The same where the answer's body is what was asked for.
    static let downloadLimit = ByteCount.mebibytes(8)
    /// Smaller segments are read and written together with the request's head: one system call for both.
    static let smallBody = ByteCount.kibibytes(64)
    /// A large body goes out in pieces of this size, so that a shrinking file is noticed and an early answer stops the sending.
    static let filePiece = ByteCount.mebibytes(1)
    /// The same for TLS, where the piece passes through memory.
    static let securePiece = ByteCount.kibibytes(128)
    /// The same for socket files: their kernel buffers tell of progress piece by piece only.
    static let localPiece = ByteCount.kibibytes(16)

    /// Returns how large the pieces are on connections to an origin.
    static func piece(for origin: Origin) -> ByteCount {
        if case .unixSocket = origin.address { return localPiece }
        return origin.isSecure ? securePiece : filePiece
    }
}
