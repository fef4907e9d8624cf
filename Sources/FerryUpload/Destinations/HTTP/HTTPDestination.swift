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
        var verdict = Verdict(answer, at: request.time)
        // What a gateway has compressed cannot be read.
        let isCoded = answer.header("content-encoding") != nil
        verdict = read(verdict, isCoded ? [] : answer.body, to: request, &trace)
        if case .delivered = verdict {
            if body != .elastic { trace.duplicates = ReceiverAnswer.duplicates(answer.body) }
            trace.acceptedJoined = answer.header(AcceptedBodiesField.header.rawValue).flatMap(AcceptedBodiesField.mostJoined)
            trace.receiver = isCoded ? nil : ReceiverAnswer.receiver(answer.header(FerryHeader.spool.rawValue), answer.body)
        }
        return .verdict(verdict)
    }

    /// Returns what an answer means by the form of the body: servers of some forms say more than the status does.
    private func read(
        _ verdict: Verdict, _ text: [UInt8], to request: StepRequest, _ trace: inout RequestTrace
    ) -> Verdict {
        let outgoing = request.outgoing
        if body != .ndjson, outgoing.events == 0, case .refused = verdict {
            // There was nothing in it to refuse.
            return .delivered(status: verdict.status ?? 200)
        }
        if body == .splunk { return SplunkAnswer(text).verdict(verdict) }
        guard case .delivered(let status) = verdict else { return verdict }
        switch body {
        case .otlp:
            guard let partial = OTLPAnswer(text) else { return verdict }
            let remark = partial.remark(ofRecords: outgoing.events)
            trace.remark = remark
            trace.notice = "\(request.origin): \(remark)"
            return verdict
        case .elastic:
            if outgoing.events == 0 { return verdict }
            switch BulkAnswer(text).action(status: status ?? 200, events: outgoing.slices == nil ? nil : outgoing.events) {
            case .verdict(let verdict): return verdict
            case .known:
                let isWhole = outgoing.slices?.allSatisfy(\.isWhole) ?? true
                if isWhole { trace.duplicates = Set(outgoing.facts.indices) }
                return verdict
            case .refused(let items): return refused(items, verdict, text, of: outgoing, &trace)
            }
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .loki, .splunk: return verdict
        }
    }

    /// Returns what it means that some events were refused, and the others taken. A segment that is refused to its last event stays what it is.
    private func refused(
        _ items: [Int: BulkAnswer.Item], _ verdict: Verdict, _ text: [UInt8], of outgoing: OutgoingRequest,
        _ trace: inout RequestTrace
    ) -> Verdict {
        let isAll = Int64(items.count) == outgoing.events
        // Where a request is a whole segment that is not cut, the other events are there, and stay so when it is brought back.
        guard let slices = outgoing.slices, !isAll || slices.count > 1 || !slices.allSatisfy(\.isWhole) else {
            let first = items.min { $0.key < $1.key }?.value
            let why = first?.description ?? ""
            return .refused(
                Verdict.Reason(
                    kind: "status", status: first?.status,
                    message: isAll ? RefusedEvent.all(items.count, why) : "\(items.count) of its events were refused: \(why)"),
                body: String(decoding: text.prefix(Int(TransportOptions.answerBodyKept.bytes)), as: UTF8.self))
        }
        trace.refused = items.mapValues { RefusedEvent(status: $0.status, message: $0.description) }
        return verdict
    }
}
