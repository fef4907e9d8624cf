// For the thread sanitizer: tracker-stress FOLDER ROUNDS calls a tracker from many threads at once.
import Dispatch
import FerrySpool
import FerryTracker
import Glibc

guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]) else {
    print("usage: tracker-stress FOLDER ROUNDS")
    exit(64)
}

/// Of a tracker that counts events alone.
func configuration() -> TrackerConfiguration {
    var configuration = TrackerConfiguration()
    configuration.sessions.tracksLifecycle = false
    configuration.appName = "tracker-stress"
    configuration.limits = .none
    return configuration
}

/// What an application's threads do most.
func trackFromAllThreads(in folder: String, _ rounds: Int) throws {
    let tracker = try EventTracker(spool: "\(folder)/tracked", configuration: configuration())
    DispatchQueue.concurrentPerform(iterations: 10) { thread in
        for round in 0..<rounds {
            do {
                try tracker.track(
                    "tracked", properties: ["thread": .int(thread), "round": .int(round)],
                    priority: round % 10 == 0 ? .critical : .normal)
            } catch {
                print("failed: \(error)")
                exit(1)
            }
        }
    }
    try tracker.close()
}

/// Every function at once; limits drop events meanwhile.
func callEverythingAtOnce(in folder: String, _ rounds: Int) throws {
    var configuration = configuration()
    configuration.retention.maxBytes = .mebibytes(1)
    configuration.onWarning = { _ in }
    let tracker = try EventTracker(spool: "\(folder)/called", configuration: configuration)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for round in 0..<rounds {
            try? tracker.track("e\(thread)", properties: ["round": .int(round)], priority: round % 7 == 0 ? .critical : .normal)
            switch (round + thread * 3) % 16 {
            case 0: try? tracker.login("user\(thread)")
            case 1: try? tracker.logout()
            case 2: tracker.startTimer("t")
            case 3: try? tracker.pauseTimer("t")
            case 4: try? tracker.resumeTimer("t")
            case 5: try? tracker.endTimer("t")
            case 6: tracker.enterBackground()
            case 7: tracker.enterForeground()
            case 8: tracker.setSuperProperties(["s\(thread)": .int(round)])
            case 9: tracker.removeAllSuperProperties()
            case 10: try? tracker.setCountryCode("BR")
            case 11: _ = tracker.startSession()
            case 12: try? tracker.setEnabled(round % 3 == 0)
            case 13: try? tracker.flushAndWait()
            case 14: _ = (tracker.statistics, tracker.sessionID, tracker.isEnabled, tracker.interval)
            default: try? tracker.setEnabled(true)
            }
        }
    }
    try tracker.close()
}

try trackFromAllThreads(in: CommandLine.arguments[1], rounds)
try callEverythingAtOnce(in: CommandLine.arguments[1], rounds)
