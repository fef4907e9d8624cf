import FerrySpool

/// Any HTTP server that takes segments, or events in a form of its own: Ferry's receiver, a collector, a WebDAV folder.
struct HTTPDestination: DestinationKind {
    let body: BodyFormat

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
            if !isCoded { readTaken(answer, to: request, &trace) }
        }
        return .verdict(verdict)
    }

    /// Reads what a server says of events that it took.
    private func readTaken(_ answer: Answer, to request: StepRequest, _ trace: inout RequestTrace) {
        switch body {
        case .otlp:
            guard let partial = OTLPAnswer(answer.body) else { return }
            let remark = partial.remark(ofRecords: request.outgoing.events)
            trace.remark = remark
            trace.notice = "\(request.origin): \(remark)"
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement: break
        }
    }
}
