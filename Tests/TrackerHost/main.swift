// A program that tracks, for the tests of whole programs: tracker-host MODE SPOOL …
import FerrySpool
import FerryTracker
import FerryTrackerUpload
import FerryUpload
import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: tracker-host count|wait|send|crash|abort|trap|report|fork SPOOL [EVENTS|URL] [THREADS|EVENTS]")
    exit(64)
}
let (mode, spool) = (arguments[1], arguments[2])
var configuration = TrackerConfiguration()
configuration.sessions.tracksLifecycle = false
configuration.appName = "tracker-host"

/// One whole line in one write, so that a kill cannot tear it.
@Sendable func tell(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}

@Sendable func number(_ index: Int, or fallback: Int) -> Int {
    arguments.count > index ? Int(arguments[index]) ?? fallback : fallback
}

switch mode {
case "count":
    // Tells the number of each event when track has returned.
    configuration.limits = .none
    let tracker = try EventTracker(spool: spool, configuration: configuration)
    let (events, threads) = (number(3, or: 1000), number(4, or: 1))
    let process = Int(getpid())
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for event in 0..<events {
            do {
                try tracker.track(
                    "counted", properties: ["process": .int(process), "thread": .int(thread), "event": .int(event)],
                    priority: event % 10 == 0 ? .critical : .normal)
                tell("\(process) \(thread) \(event)")
            } catch {
                tell("failed \(error)")
            }
        }
    }
    try tracker.close()
case "wait":
    // Shells start what runs in the background with SIGINT ignored, and Foundation's Process with most signals blocked.
    signal(SIGINT, SIG_DFL)
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    let tracker = try EventTracker(spool: spool, configuration: configuration)
    for event in 0..<10 { try tracker.track("waiting", properties: ["event": .int(event)]) }
    FileHandle.standardError.write(Data("tracked\n".utf8))
    withExtendedLifetime(tracker) { while true { sleep(1000) } }
case "send":
    // A segment for each event, and all of them in one request.
    var sensors = TrackerConfiguration(.sensors)
    sensors.sessions.tracksLifecycle = false
    sensors.batch.events = 1
    let tracker = try EventTracker(spool: spool, configuration: sensors)
    for event in 0..<number(4, or: 5) { try tracker.track("sent", properties: ["event": .int(event)]) }
    var options = UploadOptions(destination: try DestinationURL(arguments[3]), profile: .sensors)
    options.body = .jsonArray
    let delivery = try TrackerDelivery(tracker, options)
    tell("\(await delivery.flush())")
    try tracker.close()
case "crash", "abort", "trap":
    configuration.reportsCrashes = true
    configuration.appVersion = "1.2.3"
    let tracker = try EventTracker(spool: spool, configuration: configuration)
    try tracker.track("before")
    tell(tracker.sessionID ?? "none")
    switch mode {
    case "crash": UnsafeMutablePointer<Int>(bitPattern: 0x10)!.pointee = 1
    case "abort": abort()
    default: fatalError("as the test wants it")
    }
case "report":
    configuration.reportsCrashes = true
    let tracker = try EventTracker(spool: spool, configuration: configuration)
    try tracker.close()
case "fork":
    // Swift hides fork(2), for good reasons: hosts in other languages do it all the same.
    let tracker = try EventTracker(spool: spool, configuration: configuration)
    try tracker.track("parent")
    let forkProcess = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"), to: (@convention(c) () -> pid_t).self)
    let child = forkProcess()
    if child == 0 {
        do { try tracker.track("child") } catch { tell("\(error)") }
        _exit(0)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    try tracker.track("parent again")
    try tracker.close()
default: exit(64)
}
