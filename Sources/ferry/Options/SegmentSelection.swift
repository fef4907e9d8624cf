import ArgumentParser
import FerrySpool

/// Which segments a command is about.
struct SegmentSelection: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Names of segments, wherever they are; none means all pending ones. A folder, dir/* or dir/web* names spools, in place of --spool.",
            valueName: "segment"))
    var arguments: [String] = []

    /// The segments that are named.
    var segments: [String] { arguments.filter { !SpoolOptions.isSpoolName($0) } }
    /// The spools that are named.
    var spools: [String] { arguments.filter(SpoolOptions.isSpoolName) }

    @Flag(help: "Sent and rejected segments as well.")
    var all = false

    @Option(help: "Only this priority.")
    var priority: Priority?

    @Option(help: "Only this stream.")
    var stream: String?

    /// Whether no segments are named, and none left out.
    var isEverythingPending: Bool { segments.isEmpty && priority == nil && stream == nil }

    /// - Parameter note: Called with each folder that cannot be read.
    func files(_ spool: Spool, note: (FileError) -> Void) throws -> [SegmentFile] {
        do throws(FileError) {
            if segments.isEmpty {
                return try spool.files(in: all ? Set(SegmentPlace.allCases) : [.pending], note: note).filter { matches($0.name) }
            }
        } catch {
            throw CommandError(error)
        }
        return try segments.map { name in
            // A path is as good as a name: that is what a shell completes.
            let last = name.split(separator: "/").last.map(String.init) ?? name
            let file: SegmentFile?
            do throws(FileError) { file = try spool.file(named: last) } catch { throw CommandError(error) }
            guard let file else { throw CommandError(.usage, "there is no segment \(name) in \(spool.path)") }
            return file
        }
    }

    /// Returns whether priority and stream, as far as a name tells them, are those that are asked for.
    func matches(_ name: String) -> Bool {
        guard priority != nil || stream != nil else { return true }
        let segment = SegmentName(name)
        return (priority == nil || (segment?.priority ?? .normal) == priority) && (stream == nil || segment?.stream == stream)
    }
}
