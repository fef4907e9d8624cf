// Records events, and sends them from within the process: example-tracker SPOOL URL
import FerryTracker
import FerryTrackerUpload
import FerryUpload
import Foundation

guard CommandLine.arguments.count == 3 else {
    print("usage: example-tracker SPOOL URL")
    exit(64)
}
var configuration = TrackerConfiguration()
configuration.appName = "nightly"
configuration.appVersion = "1.4"
let tracker = try EventTracker(spool: CommandLine.arguments[1], configuration: configuration)
tracker.setSuperProperties(["site": "north"])
tracker.startTimer("export")
try tracker.track("table exported", properties: ["name": "orders", "rows": 1200])
try tracker.endTimer("export", properties: ["tables": 1])
try tracker.track("disk nearly full", properties: ["free": 0.02], priority: .critical)

// What cannot be sent stays in the spool: the next run, `ferry upload` or `ferry run` sends it.
let delivery = try TrackerDelivery(tracker, UploadOptions(destination: try DestinationURL(CommandLine.arguments[2])))
switch await delivery.flush(deadline: .seconds(30)) {
case .sent(let more): print(more ? "sent a part" : "sent everything")
case .noData: print("there was nothing to send")
case .failed: print("could not send")
}
try tracker.close()
