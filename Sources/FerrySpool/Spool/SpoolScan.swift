extension Spool {
    /// Lists the segments in upload order.
    ///
    /// - Parameter sizes: Also ask the kernel for every size: about as long again as listing and sorting.
    package func scan(sizes: Bool = false) throws(FileError) -> SpoolListing {
        var listing = SpoolListing()
        var sidecars: [String] = []
        let directory = directory
        try directory.forEachEntry { name, kind in
            switch EntryKind(name) {
            // An entry that is not a file is no segment, even by its name, and holds up none.
            case .segment where !directory.isFile(name, kind): listing.others.note(name) { true }
            case .segment, .foreign:
                if var entry = listing.entry(for: name, in: directory, sizes: sizes) {
                    entry.isScanned = true
                    listing.entries.append(entry)
                }
            case .sidecar(let length):
                if sizes { listing.addSidecar(name, in: directory) }
                sidecars.append(String(decoding: name.prefix(length), as: UTF8.self))
            case .journal: listing.journals.append(String(decoding: name, as: UTF8.self))
            case .arrival: listing.arrivals.append(String(decoding: name, as: UTF8.self))
            case .temporary: listing.temporaries.append(String(decoding: name, as: UTF8.self))
            case .other:
                var problem: FileError?
                listing.others.note(name) {
                    do throws(FileError) {
                        return try directory.statusOfListed(name)?.isRegular ?? false
                    } catch {
                        problem = error
                        return false
                    }
                }
                if let problem { listing.note(problem) }
            }
        }
        listing.sort()
        listing.attach(sidecars: sidecars)
        return listing
    }

    /// Returns the names of the pending segments of a priority, in no order. Other tools' files have none.
    package func names(of priority: Priority) throws(FileError) -> [String] {
        var names: [String] = []
        try directory.forEachName { name in
            guard name.first == UInt8(ascii: "0") + priority.level, EntryKind(name) == .segment else { return }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// Adds a segment that has just appeared to a listing.
    ///
    /// - Parameters:
    ///   - hasSidecar: Whether it has been tried before.
    ///   - start: Entries before this index are not looked at.
    /// - Returns: Its index; `nil` when the name is no segment's, or the file is gone. One that cannot be examined is not gone.
    package func add(_ name: String, to listing: inout SpoolListing, hasSidecar: Bool = false, after start: Int = 0) -> Int? {
        var terminated = name
        return terminated.withUTF8 { bytes in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) { buffer in
                _ = buffer.initialize(from: bytes)
                buffer[bytes.count] = 0
                let name = UnsafeBufferPointer(start: buffer.baseAddress, count: bytes.count)
                switch EntryKind(name) {
                case .segment, .foreign:
                    guard var entry = listing.entry(for: name, in: directory, sizes: true) else { return nil }
                    entry.hasSidecar = hasSidecar
                    return listing.insert(entry, from: start)
                case .sidecar, .journal, .arrival, .temporary, .other: return nil
                }
            }
        }
    }
}

extension SpoolListing {
    fileprivate mutating func addSidecar(_ name: UnsafeBufferPointer<UInt8>, in directory: Directory) {
        do throws(FileError) {
            if let status = try directory.statusOfListed(name) { sidecarBytes += status.size }
        } catch {
            note(error)
        }
    }

    /// Returns the entry of a segment's name, which a zero byte follows; `nil` when it is none that can be sent.
    ///
    /// A file that cannot be examined now (a disk's or a server's error) is listed without a size: taking it for one that is gone would
    /// leave it unsent. Its claim looks again.
    fileprivate mutating func entry(for name: UnsafeBufferPointer<UInt8>, in directory: Directory, sizes: Bool) -> Entry? {
        // An entry finds its name with 32 bits. A folder of 25 million files and more is listed in parts, one scan after the other.
        guard names.count <= Int(UInt32.max) - name.count else { return nil }
        if let fields = SegmentNameFields(name) {
            var size: ByteCount?
            if sizes {
                do throws(FileError) {
                    guard let status = try directory.statusOfListed(name), status.isRegular else { return nil }
                    size = status.size
                } catch {
                    note(error)
                }
            }
            return Entry(
                priority: fields.priority, created: fields.created, nameStart: add(name: name), nameLength: name.count,
                isForeign: false, size: size)
        }
        var found: (modified: Timestamp, size: ByteCount)?
        do throws(FileError) {
            guard let status = try directory.statusOfListed(name) else { return nil }
            guard status.isRegular else {
                // A link, say, which is not followed.
                others.note(name) { true }
                return nil
            }
            found = (status.modified, status.size)
        } catch {
            note(error)
        }
        guard let text = String(validating: name, as: UTF8.self), ForeignName.isLegal(text) else {
            others.noteMisnamed()
            return nil
        }
        // Its name tells no time: where its file does not either, it is as if it had just come.
        return Entry(
            priority: .normal, created: found?.modified ?? .now(), nameStart: add(name: name), nameLength: name.count,
            isForeign: true, size: found?.size)
    }
}
