import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct CatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print the events themselves, in upload order.",
        discussion: """
            Example: ferry cat --stream dns | jq .query

            A segment that is sent meanwhile is printed from sent/.

            Of an object store, ferry cat s3://bucket/prefix, everything below the prefix is printed, or the one object of that name, in the order of \
            names.

            Exit status: 0 everything was printed, 65 a segment is damaged, 74 one could not be read, or has gone meanwhile, 75 the object \
            store does not answer, 77 it lets nothing in.
            """)

    @OptionGroup var selection: SegmentSelection
    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var storeOptions: StoreOptions

    func validate() throws {
        let hasStore = selection.segments.contains(where: ObjectStore.isURL)
        guard hasStore || storeOptions.isEmpty else {
            throw ValidationError("--credentials-file and --ca go with an object store")
        }
        guard !hasStore || selection.arguments.count == 1 && !selection.all && spoolOptions.spool == nil else {
            throw ValidationError("an object store is named alone, without --all and --spool")
        }
    }

    func run() async throws {
        // Events on a terminal, or on their way to another program that uses it, are no place for a line.
        let progress = Progress(isShown: !spoolOptions.quiet && StandardOutput.isRegularFile, log: spoolOptions.log)
        defer { progress.end() }
        if let url = selection.segments.first, ObjectStore.isURL(url) {
            let inspection = StoreInspection(store: try await storeOptions.store(url), log: spoolOptions.log)
            return try await inspection.print(progress, where: selection.matches)
        }
        try spoolOptions.forEach(selection.spools) { options, _ in try print(options, progress) }
    }

    private func print(_ spoolOptions: SpoolOptions, _ progress: Progress) throws {
        let spool = try spoolOptions.openForReading()
        let log = spoolOptions.log
        var isDamaged = false
        var failures: [FileError] = spool.stateFailure.map { [$0] } ?? []
        func note(_ error: FileError) {
            log.warn("\(error)")
            failures.append(error)
        }
        let segments = try selection.files(spool, note: note)
        let ended = Set(segments.lazy.filter { $0.place != .pending }.map { FileName($0.name) })
        if progress.isShown { progress.begin(ProgressLine(verb: "printed", total: .init(sizesOf: segments))) }
        for segment in segments {
            var size = ByteCount.zero
            defer { progress.count(size) }
            var last = UInt8(ascii: "\n")
            do {
                let file = try open(segment, in: spool, besides: ended)
                size = try file?.status().size ?? .zero
                try file?.inflate(limit: ByteCount(.max), wholeUpTo: .oneAtATime) { bytes in
                    try StandardOutput.write(bytes)
                    last = bytes.last ?? last
                }
            } catch let damage as GzipError {
                log.warn("\(segment.name): \(damage); what comes before it is printed")
                isDamaged = true
            } catch let error as FileError {
                // Its events are missing; those of the others are not.
                note(error)
            }
            if last != UInt8(ascii: "\n") { try StandardOutput.print("") }
        }
        try StandardOutput.flush()
        if let status = ExitStatus(failures) { throw status.code }
        if isDamaged { throw ExitStatus.badData.code }
    }

    /// Opens a segment where it lies by now: reading takes long, and an uploader moves it meanwhile.
    ///
    /// - Parameter ended: What was listed in `sent/` and `rejected/`.
    /// - Returns: `nil` for one that was listed a second time there, and is printed then.
    private func open(_ segment: SegmentFile, in spool: Spool, besides ended: Set<FileName>) throws(FileError) -> OpenFile? {
        if let file = try segment.open() { return file }
        // Another tool's name may be an earlier file's in sent/: the name does not tell which it is.
        let isOwnName = SegmentName(segment.name) != nil
        if isOwnName, segment.place == .pending, ended.contains(segment.name) { return nil }
        // It may move between the look and the opening.
        for _ in 0..<(isOwnName ? 3 : 0) {
            if let file = try spool.file(named: segment.name)?.open() { return file }
        }
        throw FileError("open", segment.folder.pathOf(segment.name), code: ENOENT)
    }
}
