import TestSupport

@testable import FerryReceiver
@testable import FerrySpool

/// A body that came whole, as a receiver hands it over: a segment of a name of its own.
func candidate(
    _ text: String, second: Int = 1, in spool: Spool, inflated: ByteCount? = nil
) throws -> AdmissionCandidate {
    let (arrival, name) = (try spool.arrivals.begin(), Segments.name(second: second))
    let bytes = Segments.gzip(text)
    try arrival.file.write(bytes)
    return AdmissionCandidate(
        arrival: arrival,
        entry: ReceivedEntry(
            at: .now(), key: name.id, sha256: "", segment: name.fileName, bytes: Int64(bytes.count), events: 1,
            file: arrival.fileName),
        identity: SegmentIdentity(name), way: .none, isOriginal: true,
        body: .init(
            digest: try arrival.file.digest().digest, inflated: inflated ?? ByteCount(Int64(text.utf8.count)), endsLine: true))
}
