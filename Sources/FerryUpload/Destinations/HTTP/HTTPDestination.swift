import FerrySpool

/// Any HTTP server that takes segments, or events in a form of its own: Ferry's receiver, a collector, a WebDAV folder.
struct HTTPDestination: DestinationKind {
    func firstStep(_ method: String) -> DeliveryStep { DeliveryStep(method: method) }

    func contentFields(_ body: BodyFormat) -> [(name: String, value: String)] {
        [("Content-Type", body.contentType), ("Content-Encoding", "gzip")]
    }

    func fields(of request: StepRequest) -> [(name: String, value: String)] {
        request.outgoing.fields(at: request.time).map { ($0.header.rawValue, $0.value) }
    }

    func meaning(of answer: Answer, to request: StepRequest, _ trace: inout RequestTrace) -> AnswerMeaning {
        let verdict = Verdict(answer, at: request.time)
        if case .delivered = verdict {
            trace.duplicates = ReceiverAnswer.duplicates(answer.body)
            trace.acceptedJoined = answer.header(AcceptedBodiesField.header.rawValue).flatMap(AcceptedBodiesField.mostJoined)
            // What a gateway has compressed cannot be read.
            let isCoded = answer.header("content-encoding") != nil
            trace.receiver = isCoded ? nil : ReceiverAnswer.receiver(answer.header(FerryHeader.spool.rawValue), answer.body)
        }
        return .verdict(verdict)
    }
}
