import FerryReceiver
import FerrySpool
import Synchronization

/// Says and counts what a receiver does.
final class ReceiverReports: Sendable {
    let metrics = ReceiverMetrics()
    private let log: Log
    private let state = Mutex(ReceiverLog())

    init(_ log: Log) { self.log = log }

    func add(_ event: ReceiverEvent) {
        metrics.count(event)
        switch event {
        case .received, .refused, .failed: show(state.withLock { $0.add(event, at: .now) })
        case .sentDeleted(let count): log.note(sentDeletedText(count))
        case .keysForgotten(let forgotten, let machine):
            let owner = machine.map { " of \($0)" } ?? ""
            let about = machine.map { ["machine": $0.text] } ?? [:]
            if let last = forgotten.logs.last {
                log.note("forgot the keys\(owner) of \(counted(Int64(forgotten.logs.count), "day")), up to \(last)", about: about)
            }
            for problem in forgotten.problems { log.warn("cannot forget old keys\(owner): \(problem)", about: about) }
        case .warning(let text): log.warn(text)
        }
    }

    /// Tells what was held back whose time is over, until the task is cancelled; then all of it.
    func tellOfHeldBack() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let isLast = Task.isCancelled
            show(state.withLock { $0.over(all: isLast, at: .now) })
        }
    }

    private func show(_ lines: [ReceiverLine]) {
        for line in lines {
            if line.isWarning { log.warn(line.text, about: line.about) } else { log.note(line.text, about: line.about) }
        }
    }
}
