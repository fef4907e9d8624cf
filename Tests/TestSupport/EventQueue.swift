/// What happens in a simulation, by virtual time. Events of one moment come in the order in which they were added.
package struct EventQueue<Event> {
    private var heap: [(time: Duration, order: Int, event: Event)] = []
    private var added = 0

    package init() {}

    package mutating func add(_ event: Event, at time: Duration) {
        added += 1
        heap.append((time, added, event))
        var index = heap.count - 1
        while index > 0, isBefore(index, (index - 1) / 2) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    package mutating func next() -> (time: Duration, event: Event)? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && isBefore(child, least) { least = child }
            if least == index { return (first.time, first.event) }
            heap.swapAt(index, least)
            index = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
