public import FerrySpool

/// Takes bundles into a hub's spool, each segment once.
public struct Import {
    private let hub: Spool
    private let options: ImportOptions
    /// Called as it goes.
    package var onProgress: (WorkProgress) -> Void = { _ in }

    /// Creates an import into a hub's spool; nothing is done before ``run(_:at:)``.
    public init(_ hub: Spool, options: ImportOptions) {
        self.hub = hub
        self.options = options
    }

    /// Reads what the bundles at a path say of themselves, and takes nothing.
    ///
    /// - Returns: What is wrong with each, and nothing where there is none; `nil` where one at least may be taken.
    /// - Throws: `FileError` when the path itself cannot be read.
    package static func refusals(at path: String, options: ImportOptions) throws(FileError) -> [BundleError]? {
        var refusals: [BundleError] = []
        for place in try BundlePlace.find(path) {
            do throws(BundleError) {
                guard let source = try place.open() else { continue }
                _ = try source.manifest(signedBy: options.sender, openedWith: options.keys)
                return nil
            } catch {
                refusals.append(error)
            }
        }
        return refusals
    }

    /// Takes every bundle at a path: a bundle, a tar file, or a stick with several. What is wrong with one does not stop the others.
    ///
    /// - Throws: `FileError` when the path itself, or the log of the hub's spool, cannot be read.
    public func run(_ path: String, at now: Timestamp) throws -> [Result<ImportReport, BundleError>] {
        let batchSize = OpenFiles.raiseLimit()
        let bundles = try BundlePlace.find(path).compactMap { place -> Result<BundleIntake, BundleError>? in
            do throws(BundleError) {
                return try BundleIntake(place, into: hub, options, batchSize: batchSize, at: now).map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
        let keys = bundles.reduce(into: Set<String>()) { keys, bundle in
            if case .success(let bundle) = bundle { keys.formUnion(bundle.keys) }
        }
        var holdings = try Holdings(of: hub, keys: keys)
        let total = bundles.reduce(into: (segments: 0 as Int64, bytes: ByteCount.zero)) { total, bundle in
            guard case .success(let bundle) = bundle else { return }
            total.segments += Int64(bundle.segments)
            total.bytes += bundle.bytes
        }
        onProgress(.begins(.taking, segments: total.segments, bytes: total.bytes))
        return bundles.map { bundle in
            do throws(BundleError) {
                var bundle = try bundle.get()
                return .success(try bundle.take(&holdings, onProgress))
            } catch {
                return .failure(error)
            }
        }
    }
}
