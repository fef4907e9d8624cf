// Makes an event of each line of standard input and publishes them as segments of 1,000 events at most: example-producer SPOOL
import FerrySpool
import Foundation

struct Event: Encodable {
    var name = "line"
    var number: Int
    var text: String
}

guard CommandLine.arguments.count == 2 else {
    print("usage: example-producer SPOOL")
    exit(64)
}
let spool = try Spool.open(CommandLine.arguments[1], access: .create)
var options = SegmentWriter.Options()
options.stream = StreamLabel("example")
options.roll.events = 1000
let writer = SegmentWriter(spool: spool, options: options)
let encoder = JSONEncoder()
var number = 0
while let text = readLine() {
    number += 1
    let line = [UInt8](try encoder.encode(Event(number: number, text: text)))
    try line.withUnsafeBufferPointer { try writer.append($0, at: .now) }
    // In the journal from here on: if this process dies, the next one that opens the spool publishes it.
    try writer.flush()
}
for segment in try writer.finish() { print(segment.fileName) }
