import Foundation
import TestSupport
import Testing

@Suite("The program without a right clock")
struct ClockProgramTests {
    private let folder = TemporaryFolder()

    /// A library that tells a program another time of day.
    private func fakeClock() async throws -> String {
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdlib.h>
            #include <time.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                static int (*real)(clockid_t, struct timespec *);
                if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
                int result = real(clock, time);
                if (clock == CLOCK_REALTIME) *time = (struct timespec){atol(getenv("TEST_WALL_CLOCK")), 0};
                return result;
            }
            """
        return try await Preload.build(source, in: folder)
    }

    @Test("ferry write in a machine that booted in 1970 publishes after what another boot published", .needs("cc"))
    func boots() async throws {
        let library = try await fakeClock()
        let spool = folder("spool")
        for (event, seconds) in [("1", "1790000000"), ("2", "42"), ("3", "1790000100")] {
            let program = Program(environment: ["LD_PRELOAD": library, "TEST_WALL_CLOCK": seconds])
            let result = try await program.run("write", "--create", "--spool", spool, input: event + "\n")
            #expect(result.status == 0, "\(result.errors)")
        }
        let events = try await Program().run("cat", "--spool", spool)
        #expect(events.output == "1\n2\n3\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: spool).filter { $0.hasSuffix(".gz") }.sorted()
        #expect(
            names.map { String($0.prefix(22)) } == ["5-20260921T141320.000Z", "5-20260921T141320.001Z", "5-20260921T141500.000Z"])
    }
}
