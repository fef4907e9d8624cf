/// A request that is noted for as long as this lives.
package final class NotedRequest: Sendable {
    private let notes: RequestNotes
    private let place: Int64

    init(_ notes: RequestNotes, at place: Int64) {
        self.notes = notes
        self.place = place
    }

    deinit { notes.end(at: place) }

    /// Notes that the destination has all that it carries, and that the outcome is about to be written down, segment by segment.
    func noteArrival() { notes.noteArrival(at: place) }
}
