import FerrySpool

/// How much a bundle may still take of a medium.
struct BundleRoom {
    /// What the manifest says of a segment, the header in a tar file, and the medium's own bookkeeping.
    private static let overhead: Int64 = 2048
    /// The bundle's folder, the manifest and the signature.
    private static let ownFiles: Int64 = 3

    /// In what a file is given its room; `nil` in a tar file.
    private let units: RoomUnits?
    private var bytes: Int64
    private var files: Int64
    /// What an empty bundle has for segments.
    private let whole: Int64

    /// Creates the room that a bundle may take.
    ///
    /// - Parameter limit: The most that the bundle may take of the medium.
    init(_ limit: ByteCount, on medium: Directory, asTar: Bool) {
        units = asTar ? nil : medium.roomUnits
        whole = limit.bytes - Self.overhead - Self.ownFiles * (units?.block ?? 0)
        bytes = whole
        files = (units?.files ?? .max) - Self.ownFiles
    }

    /// Returns what a segment of this size takes.
    func cost(of size: Int64) -> Int64 {
        guard let block = units?.block else { return size.adding(Self.overhead) }
        return (size.adding(block - 1) / block * block).adding(Self.overhead)
    }

    /// Returns whether a bundle with nothing else in it has room for a segment.
    func fitsAlone(_ size: Int64) -> Bool { cost(of: size) <= whole }

    /// Returns whether there is room left for a segment.
    func fits(_ size: Int64) -> Bool { cost(of: size) <= bytes && files > 0 }

    mutating func take(_ size: Int64) {
        bytes -= cost(of: size)
        files -= 1
    }
}
