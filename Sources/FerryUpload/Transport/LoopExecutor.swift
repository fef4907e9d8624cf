import NIOCore

/// Runs tasks on an event loop's thread, so that a worker and its connection need no switch of threads for a request.
///
/// What runs here may make short calls to the file system; what may take long goes through ``blocking(_:)``.
final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
