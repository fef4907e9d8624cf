extension Spool {
    /// Returns the segments in some places, in upload order in each.
    package func files(in places: Set<SegmentPlace>) throws(FileError) -> [SegmentFile] {
        var failure: FileError?
        let files = try files(in: places) { failure = failure ?? $0 }
        if let failure { throw failure }
        return files
    }

    /// Returns the same, where a folder that cannot be read hides no other.
    ///
    /// - Parameter note: Called with each folder of `sent/`, and `rejected/`, that cannot be read.
    /// - Throws: ``FileError`` when the spool's own folder cannot be listed.
    package func files(in places: Set<SegmentPlace>, note: (FileError) -> Void) throws(FileError) -> [SegmentFile] {
        var files: [SegmentFile] = []
        if places.contains(.pending) {
            let listing = try scan()
            files += listing.entries.map { SegmentFile(place: .pending, name: listing.name(of: $0), folder: directory) }
        }
        if places.contains(.sent) {
            for day in sentDays(note: note) { files += Self.files(in: day, .sent, note) }
        }
        if places.contains(.rejected) {
            do throws(FileError) {
                if let folder = try rejectedFolder() {
                    files += Self.files(in: folder, .rejected, note).filter { !$0.name.hasSuffix(".reason.json") }
                }
            } catch {
                note(error)
            }
        }
        return files
    }

    private static func files(in folder: Directory, _ place: SegmentPlace, _ note: (FileError) -> Void) -> [SegmentFile] {
        do throws(FileError) {
            // One that cannot be examined is listed: opening it tells why.
            return try folder.names().filter { !$0.hasPrefix(".") && (try? folder.isDirectory($0)) != true }
                .map { SegmentFile(place: place, name: $0, folder: folder) }
        } catch {
            note(error)
            return []
        }
    }

    /// Returns the file of a name: pending, sent or rejected. `nil` when it is nowhere.
    ///
    /// - Throws: ``FileError`` when it was not found, and not everywhere could be looked.
    package func file(named name: String) throws(FileError) -> SegmentFile? {
        var failure: FileError?
        func has(_ folder: Directory) -> Bool {
            do throws(FileError) {
                return try folder.contains(name)
            } catch {
                failure = failure ?? error
                return false
            }
        }
        if has(directory) { return SegmentFile(place: .pending, name: name, folder: directory) }
        for day in sentDays(note: { failure = failure ?? $0 }) where has(day) {
            return SegmentFile(place: .sent, name: name, folder: day)
        }
        do throws(FileError) {
            if let folder = try rejectedFolder(), has(folder) {
                return SegmentFile(place: .rejected, name: name, folder: folder)
            }
        } catch {
            failure = failure ?? error
        }
        if let failure { throw failure }
        return nil
    }
}
