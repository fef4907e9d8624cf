extension Spool {
    /// Lists the segments in upload order.
    ///
    /// - Parameter sizes: Also ask the kernel for every size: about as long again as listing and sorting.
    public func scan(sizes: Bool = false) throws(FileError) -> SpoolListing {
        var listing = SpoolListing()
        var sidecars: [String] = []
        let directory = directory
        try directory.forEachName { name in
            switch EntryKind(name) {
            case .segment:
                guard let fields = SegmentNameFields(name) else { return }
                var size: ByteCount?
                if sizes {
                    guard let status = directory.statusOfListed(name), status.isRegular else { return }
                    size = status.size
                }
                listing.entries.append(
                    .init(
                        priority: fields.priority, created: fields.created, nameStart: listing.add(name: name),
                        nameLength: name.count, isForeign: false, size: size))
            case .foreign:
                guard let status = directory.statusOfListed(name), status.isRegular else { return }
                guard String(validating: name, as: UTF8.self) != nil else {
                    listing.unusableNames += 1
                    return
                }
                listing.entries.append(
                    .init(
                        priority: .normal, created: status.modified, nameStart: listing.add(name: name),
                        nameLength: name.count, isForeign: true, size: status.size))
            case .sidecar(let length):
                if sizes, let status = directory.statusOfListed(name) { listing.sidecarBytes += status.size }
                sidecars.append(String(decoding: name.prefix(length), as: UTF8.self))
            case .journal: listing.journals.append(String(decoding: name, as: UTF8.self))
            case .temporary: listing.temporaries.append(String(decoding: name, as: UTF8.self))
            case .other: break
            }
        }
        listing.sort()
        listing.attach(sidecarsOf: sidecars)
        return listing
    }
}
