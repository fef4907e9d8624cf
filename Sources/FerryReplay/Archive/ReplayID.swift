import FerrySpool

/// IDs of replayed segments: made from the run's and the original's, so that an interrupted replay goes on with the same.
enum ReplayID {
    static func id(of text: String) -> SegmentID { ReceivedID(text).id }
}
