import CForks
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

/// A fork copies the locks of the Swift runtime as they are: a child that needs one which another thread held waits for ever.
///
/// One after the other: forks and work are the whole process's.
@Suite("A fork waits for the first work of a tracker's thread", .serialized)
struct ForkWaitTests {
    /// What a thread that forks has come to.
    private final class Forking: Sendable {
        private let state = Mutex((isBegun: false, child: pid_t?.none))

        var isBegun: Bool { state.withLock(\.isBegun) }
        var child: pid_t? { state.withLock(\.child) }

        init() {
            ferry_watch_forks()
            Thread.detachNewThread { [self] in
                state.withLock { $0.isBegun = true }
                let child = Self.fork()
                if child == 0 { _exit(0) }
                waitpid(child, nil, 0)
                state.withLock { $0.child = child }
            }
        }

        // Swift hides fork(2), for good reasons: the child does nothing but end.
        private static let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
    }

    /// Runs `body` as such work, on a thread of its own: a task may change its thread.
    private static func work(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            ferry_begin_work()
            body()
            ferry_end_work()
        }
    }

    @Test("It begins when the work has ended, however much work of an uploader there was before", arguments: [0, 200])
    func waits(before: Int) async throws {
        for _ in 0..<before {
            let early = EarlyWork.begin()
            _ = consume early
        }
        let order = Mutex<[String]>([])
        let isWorking = Mutex(false)
        let forking = Mutex<Forking?>(nil)
        Self.work {
            isWorking.withLock { $0 = true }
            while forking.withLock({ $0?.isBegun }) != true { usleep(1_000) }
            // The fork has these moments to begin too early.
            usleep(100_000)
            order.withLock { $0.append(forking.withLock { $0?.child } == nil ? "work" : "fork") }
        }
        try await eventually("the work begins") { isWorking.withLock { $0 } }
        let started = Forking()
        forking.withLock { $0 = started }
        try await eventually("the child is there") { started.child != nil }
        #expect(order.withLock { $0 } == ["work"])
        #expect(started.child.map { $0 > 0 } == true)
    }

    @Test("It waits a second for work that does not end, no longer")
    func isBounded() async throws {
        let mayEnd = Mutex(false)
        let isWorking = Mutex(false)
        Self.work {
            isWorking.withLock { $0 = true }
            while !mayEnd.withLock({ $0 }) { usleep(1_000) }
        }
        defer { mayEnd.withLock { $0 = true } }
        try await eventually("the work begins") { isWorking.withLock { $0 } }
        let started = Forking()
        try await eventually("the child is there") { started.child != nil }
        #expect(!mayEnd.withLock { $0 })
    }

    @Test("Work that begins after it waits for no fork that is over")
    func goesOn() async throws {
        let started = Forking()
        try await eventually("the child is there") { started.child != nil }
        let hasEnded = Mutex(false)
        Self.work { hasEnded.withLock { $0 = true } }
        try await eventually("the work ends") { hasEnded.withLock { $0 } }
        #expect(started.child.map { $0 > 0 } == true)
    }
}
