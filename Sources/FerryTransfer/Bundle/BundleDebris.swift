import FerrySpool

/// Bundles that were never finished: their exports died, and the segments are due like any other.
enum BundleDebris {
    /// A mark is kept until its bundle is found: the stick may be elsewhere. One that died before it wrote anything is never found.
    private static let memory = Duration.seconds(30 * 86_400)

    /// Removes from a medium what dead exports of a spool left there, and then their marks. Bundles of other spools stay, and so does
    /// what cannot be recognized as this spool's.
    static func remove(from medium: Directory, of spool: Spool, at now: Timestamp) {
        // The names first: what another export begins has its mark by the time that it is listed.
        let names = (try? medium.names()) ?? []
        guard let marks = try? spool.exports.allMarks() else { return }
        let void = Set(marks.filter { $0.state == .void }.map(\.bundle))
        let counting = Set(marks.map(\.bundle)).subtracting(void)
        for name in names {
            guard let (bundle, isNamed) = bundle(of: name), !counting.contains(bundle) else { continue }
            // One that has its name looks whole, and died before it was marked: only its void mark tells.
            guard void.contains(bundle) || (!isNamed && head(of: name, in: medium)?.spool == spool.id) else { continue }
            remove(name, from: medium)
            if void.contains(bundle), (try? medium.contains(name)) == false { try? spool.exports.unmark(bundle) }
        }
        for mark in marks where mark.state == .void && now - mark.at > memory { try? spool.exports.unmark(mark.bundle) }
    }

    /// Removes an unfinished bundle: the files that an export makes, and then the folder, if nothing else is in it.
    static func remove(_ name: String, from medium: Directory) {
        if (try? medium.isDirectory(name)) == true, let folder = try? medium.directory(name) {
            for file in (try? folder.names()) ?? [] where BundleManifest.isFileName(file) { try? folder.remove(file) }
            try? medium.removeEmptyDirectory(name)
        } else {
            try? medium.remove(name)
        }
    }

    /// Returns the ID in the name of a bundle, and whether it has its last name.
    private static func bundle(of name: String) -> (id: String, isNamed: Bool)? {
        guard name.hasPrefix(BundleDestination.prefix) else { return nil }
        var stem = name.dropFirst(BundleDestination.prefix.count)
        let isNamed = !stem.hasSuffix(BundleDestination.partSuffix)
        if !isNamed { stem = stem.dropLast(BundleDestination.partSuffix.count) }
        return (String(stem.hasSuffix(".tar") ? stem.dropLast(4) : stem), isNamed)
    }

    /// Returns the first line of the manifest, which is written before everything else.
    private static func head(of name: String, in medium: Directory) -> BundleManifest.Head? {
        guard case .success(let source) = BundleSource.bundle(name, in: medium),
            let region = (try? source.region(BundleManifest.fileName)) ?? nil,
            let bytes = try? region.bytes(limit: .kibibytes(64)), let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        return bytes[..<end].withUnsafeBufferPointer { JSONLine.decode(BundleManifest.Head.self, $0) }
    }
}
