import FerrySpool
import FerryUpload

/// How a runner stands.
struct NamedSnapshot {
    /// The destination among several; `nil`: the only one, or what puts segments into the lanes.
    let name: LaneName?
    let run: RunSnapshot
}
