public import FerryTracker
public import FerryUpload

extension UploadOptions {
    /// Options with the documented numbers of an SDK, as `ferry run --profile` has them: how many requests at once, in which order, what waits
    /// after a failure, how much a request carries at most, and that nothing delivered is kept.
    public init(destination: DestinationURL, profile: TrackerProfile) {
        self.init(destination: destination)
        keepsSent = false
        switch profile {
        case .appCenter:
            // MSACHttpCall: three retries a request, then nothing until the next start; 60 s for an answer.
            backOff = BackOff(intervals: [.seconds(10), .seconds(300), .seconds(1200)], jitter: 0.5...1, failuresAllowed: .max)
            blame = .eachRequest(retries: backOff.intervals.count)
            transport.idleTimeout = .seconds(60)
            requestLimits = RequestLimits(.appCenter)
        case .googleAnalytics:
            makeOrdered(retryingAfter: .seconds(120))
            requestLimits = RequestLimits(.measurement(trackingID: ""))
        case .sensors:
            makeOrdered(retryingAfter: .seconds(15))
            requestLimits = RequestLimits(.sensors)
        }
    }

    /// Sends one request after the other: what fails is tried again with the next interval, and nothing passes it.
    private mutating func makeOrdered(retryingAfter interval: Duration) {
        (parallel, order) = (1, .strict)
        backOff = BackOff(intervals: [interval], jitter: 1...1, failuresAllowed: .max)
    }
}
