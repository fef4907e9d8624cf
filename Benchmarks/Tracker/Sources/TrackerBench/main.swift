// One subject a process: tracker-bench SUBJECT FOLDER EVENTS [THREADS]. Prints one line of JSON.
import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 4, let events = Int(arguments[3]) else {
    print("usage: tracker-bench ferry|ferry-disk|log|sqlite|write FOLDER EVENTS [THREADS]")
    exit(64)
}
let folder = arguments[2]
let threads = arguments.count > 4 ? Int(arguments[4])! : 1

let subject: any Subject =
    switch arguments[1] {
    case "ferry": try FerrySubject(folder, .process)
    case "ferry-disk": try FerrySubject(folder, .disk)
    case "log": LogSubject(folder)
    case "sqlite": SQLiteSubject(folder)
    default: WriteSubject(folder)
    }

let start = ContinuousClock.now
let latencies = await withTaskGroup(of: Latencies.self) { group in
    for thread in 0..<threads {
        group.addTask {
            var latencies = Latencies()
            for number in 0..<events / threads {
                let start = Nanoseconds.now
                subject.store(number, thread)
                latencies.add(Nanoseconds.now - start)
            }
            return latencies
        }
    }
    var all = Latencies()
    for await latencies in group { all.merge(latencies) }
    return all
}
let time = ContinuousClock.now - start
let before = Memory.resident
subject.finish()
let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
print(
    """
    {"subject":"\(arguments[1])","events":\(events),"threads":\(threads),"seconds":\(seconds),"rate":\(Double(events) / seconds),\
    "p50":\(latencies.quantile(0.5)),"p99":\(latencies.quantile(0.99)),"p999":\(latencies.quantile(0.999)),"worst":\(latencies.worst),\
    "peakMB":\(Memory.peak),"residentMB":\(before)}
    """)
