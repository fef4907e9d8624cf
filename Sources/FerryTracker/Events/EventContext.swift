/// What is the same in many events, as it stands in their lines: session, user and device.
final class EventContext: Sendable {
    let bytes: [UInt8]

    init(session: String?, user: String?, device: [UInt8]) {
        var line = LineBuffer()
        line.append(",\"session\":")
        if let session { line.appendQuoted(session) } else { line.append("null") }
        line.append(",\"user\":")
        if let user { line.appendQuoted(user) } else { line.append("null") }
        line.append(",\"device\":")
        line.append(device)
        bytes = Array(line.bytes)
    }
}
