import FerrySpool

/// What is left of a job whose segments go out in parts.
struct Remainder {
    var job: Assignment
    var segments: [PreparedSegment]
    let limits: RequestLimits
    let parts: RequestParts
    /// The number that the first of the segments had in the parts at first.
    var first = 0
    /// Segments up to this one have a sidecar that this process wrote: what is delivered can be noted.
    var noted = -1
    /// The numbers of those that were taken out, from among the others.
    private var takenOut: Set<Int> = []

    init(_ job: Assignment, _ segments: [PreparedSegment], _ limits: RequestLimits, _ options: UploadOptions) {
        let destination = job.services.recorder.destinationID
        self.job = job
        self.segments = segments.map { segment in
            var segment = segment
            segment.recallRemark(of: destination)
            return segment
        }
        self.limits = limits
        parts = RequestParts(
            segments.map {
                .init(file: $0.claim.file, origin: $0.facts.origin, line: $0.delivered(to: destination))
            }, as: options.body, limits: limits, inflateLimit: options.inflateLimit)
    }

    /// Whether segments were taken out: the parts may go on in one of them.
    var hasGaps: Bool { !takenOut.isEmpty }

    /// Returns where a segment is in the list, by its number in the parts.
    func place(of number: Int) -> Int { number - first - takenOut.count { $0 < number } }

    /// Takes a segment out of the job. It is the caller's to say what becomes of it.
    mutating func takeOut(_ number: Int) {
        let place = place(of: number)
        job = job.with(job.items.enumerated().filter { $0.offset != place }.map(\.element))
        segments.remove(at: place)
        takenOut.insert(number)
    }
}
