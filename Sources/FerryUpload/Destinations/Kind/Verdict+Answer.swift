import FerrySpool

extension Verdict {
    /// What an answer of an HTTP server means.
    ///
    /// - Parameter time: When its request was sent.
    init(_ answer: Answer, at time: Timestamp) {
        let retryAfter = answer.header("retry-after").flatMap {
            RetryAfter.parse($0, now: time, serverDate: answer.header("date"))
        }
        self.init(
            status: answer.status, retryAfter: retryAfter, location: answer.header("location"),
            body: String(decoding: answer.body.prefix(Int(TransportOptions.answerBodyKept.bytes)), as: UTF8.self),
            contentType: answer.header("content-type"), isToWholeRequest: answer.isToWholeRequest)
    }
}
