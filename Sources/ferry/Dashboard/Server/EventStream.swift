import FerrySpool

/// What a reader is told over a connection that stays open (server-sent events): that the page is another one now, no more.
///
/// It ends after a while, and a browser begins it anew. So of a reader that takes nothing no more waits than is said until then, and its connection,
/// which then owes a request, is closed.
struct EventStream {
    /// Returns what stands for the page's content; `nil` while that is not known.
    private let mark: @Sendable () async -> UInt64?
    private var last: UInt64?
    private var isBegun = false
    /// Since something was said.
    private var quiet = Duration.zero
    private var age = Duration.zero

    /// How often it is looked whether something has changed.
    private static let pause = Duration.seconds(1)
    /// How often a comment shows that the server lives, and finds out whether the reader does.
    private static let silence = Duration.seconds(15)
    /// When it ends.
    private static let lifetime = Duration.seconds(600)

    init(_ mark: @escaping @Sendable () async -> UInt64?) { self.mark = mark }

    /// Returns the next piece; `nil` at the end.
    mutating func next() async -> String? {
        if !isBegun {
            isBegun = true
            last = await mark()
            return "retry: 5000\n\n"
        }
        while age < Self.lifetime {
            do { try await Task.sleep(for: Self.pause) } catch { return nil }
            quiet += Self.pause
            age += Self.pause
            if let current = await mark(), current != last {
                (last, quiet) = (current, .zero)
                return "event: changed\ndata: 1\n\n"
            }
            if quiet >= Self.silence {
                quiet = .zero
                return ":\n\n"
            }
        }
        return nil
    }
}
