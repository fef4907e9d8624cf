import ArgumentParser
import FerrySpool

/// The limits of a spool.
struct RetentionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Drop the oldest of the lowest priority while pending data is larger than this, and first what is larger by itself. \
            ferry write looks before it begins a segment: its last ones come on top until the next look.
            """,
            valueName: "size"))
    var maxSpoolBytes: ByteCount?

    @Option(help: ArgumentHelp("Drop pending segments that are older than this.", valueName: "duration"))
    var maxSpoolAge: Duration?

    func validate() throws {
        if let maxSpoolAge, maxSpoolAge <= .zero {
            throw ValidationError("--max-spool-age must be more than 0: it would drop everything")
        }
    }

    var limits: RetentionLimits { RetentionLimits(maxBytes: maxSpoolBytes, maxAge: maxSpoolAge) }
}
