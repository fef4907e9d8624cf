import FerryIntake

@testable import FerrySpool
@testable import FerryTransfer

extension FuzzTarget {
    static let manifests = FuzzTarget("manifests", longest: 2048) { bytes in
        guard let manifest = try? BundleManifest(bytes) else { return }
        try expect(try BundleManifest(manifest.bytes) == manifest, "a manifest reads as it was written")
        try expect(manifest.segments.count == manifest.head.segments, "a manifest has as many segments as it says")
        var names: Set<FileName> = []
        for segment in manifest.soundSegments {
            try expect(ForeignName.isLegal(segment.name), "a segment's name can be a file's")
            try expect(BundleManifest.isFileName(segment.file), "a segment's file is one of the bundle's")
            try expect(segment.bytes > 0 && segment.events ?? 0 >= 0, "no size is negative")
            try expect(Sealing.size(of: segment.bytes) > 0, "no encrypted size is negative")
            try expect(names.insert(segment.name).inserted, "no segment comes twice")
        }
    }

    /// Receipts, signed or not.
    static let receipts = FuzzTarget("receipts", longest: 2048) { bytes in
        for sender in [nil, keys.publicKeys] {
            guard let receipt = try? Receipt(bytes, from: sender) else { continue }
            let again = try Receipt(receipt.bytes(signedBy: keys), from: keys.publicKeys)
            try expect(again == receipt, "a receipt reads as it was written")
        }
    }

    /// Bundles in tar files.
    static let tar = FuzzTarget("tar", longest: 8192) { bytes in
        let file = try FileInMemory(bytes)
        let entries = try Tar.entries(file.file)
        try expect(entries.count <= bytes.count / Tar.blockSize, "each file has a block of its own")
        for entry in entries {
            try expect(entry.size >= 0 && entry.offset >= Tar.blockSize, "no place is negative")
            let header = Tar.header("0.gz", size: entry.size, modified: Timestamp(milliseconds: entry.offset))
            let again = try Tar.entries(FileInMemory(header).file)
            try expect(again == [Tar.Entry(name: "0.gz", offset: 512, size: entry.size)], "a header reads as it was written")
        }
        for source in try file.use({ try BundlePlace.find($0).compactMap { (try? $0.open()) ?? nil } }) {
            for entry in entries {
                guard let region = try source.region(entry.name) else { continue }
                try expect(region.offset + region.size <= bytes.count, "a file lies within the tar file")
            }
            _ = try? source.manifest(signedBy: nil, openedWith: nil)
        }
    }

    /// Files with keys.
    static let keyFiles = FuzzTarget("key-files", longest: 300) { bytes in
        let file = try FileInMemory(bytes)
        if let keys = try? file.use({ try PublicKeys(file: $0) }) {
            let again = try FileInMemory(Array(keys.text.utf8)).use { try PublicKeys(file: $0) }
            try expect(again == keys, "keys read as they were written")
        }
        if let keys = try? file.use({ try PrivateKeys(file: $0) }) {
            let again = try FileInMemory(Array(keys.text.utf8)).use { try PrivateKeys(file: $0) }
            try expect(again.publicKeys == keys.publicKeys, "keys read as they were written")
        }
    }

    /// Encrypted segments.
    static let sealedSegments = FuzzTarget("sealed-segments", longest: 2048) { bytes in
        let file = try FileInMemory(bytes).file
        var opened = 0
        do {
            try Sealing.open(FileRegion(file, size: Int64(bytes.count)), with: keys, context: "fuzz") { opened += $0.count }
            try expect(Sealing.size(of: Int64(opened)) == bytes.count, "what opens has the size that it should")
        } catch is Sealing.SealingError {
            try expect(opened <= bytes.count, "nothing comes out that did not go in")
        }
    }

    /// The same in every process, so that a corpus can hold what was made for them.
    private static let keys: PrivateKeys = {
        let half = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let text = "ferry-private-key-1 \(half) \(half)\n"
        do { return try FileInMemory(Array(text.utf8)).use { try PrivateKeys(file: $0) } } catch { fatalError("\(error)") }
    }()
}
