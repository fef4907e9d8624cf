/// Why a receipt is refused; nothing was changed.
public enum ReceiptError: Error, Equatable, CustomStringConvertible {
    case unreadable(String)
    case unsigned
    case forged
    /// The bundle comes from another spool.
    case foreign(String)
    /// Its bundle, of this spool, was acknowledged before, given up, or is not complete; `pending` of its segments are pending all the same.
    case notAwaited(bundle: String, pending: Int)
    /// The spool vouches for itself.
    case own
    /// It vouches for bytes that were never exported, or twice for the same.
    case contradicts(String)

    /// The reason, for people.
    public var description: String {
        switch self {
        case .unreadable(let why): "the receipt cannot be read: \(why)"
        case .unsigned: "the receipt is not signed, and --from wants a signature"
        case .forged: "the receipt's signature is not by the key in --from"
        case .foreign(let why): "the receipt is not for this spool: \(why)"
        case .notAwaited(let bundle, 0):
            "the bundle \(bundle) waits for no receipt any more, and none of its segments is pending by its name: the receipt is of no more use"
        case .notAwaited(let bundle, let pending):
            "the bundle \(bundle) waits for no receipt any more: acknowledged before, given up, or its export did not end; \(pending) of its segments are pending"
        case .own: "the receipt was written by this very spool, which is no proof that its segments are anywhere else"
        case .contradicts(let segment): "the receipt has another checksum for \(segment) than the bundle had, or names it twice"
        }
    }
}
