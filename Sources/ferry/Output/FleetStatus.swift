import FerrySpool
import FerryUpload

/// One line for each of many spools: which machine is behind, and which has fallen silent.
struct FleetStatus: Encodable {
    let spool: String
    var pending: Int64 = 0
    var bytes: Int64 = 0
    /// When the last segment was opened that came from there.
    var last: Timestamp?
    var oldest: Timestamp?
    var late: Int64 = 0
    /// Nothing has come for longer than usual.
    var isSilent = false
    /// Whether `ferry run` looks after it, on this machine.
    var isServed = false
    /// Why nothing is sent from it now.
    var standstill: Standstill?
    /// Why it cannot be looked at.
    var problem: String?

    init(_ path: String, now: Timestamp, deadline: DueTime?) {
        spool = path
        do throws(FileError) {
            try Spool.requireSpool(at: path)
            try look(Spool.open(path, access: .read), now, deadline)
        } catch {
            problem = error.description
        }
    }

    private mutating func look(_ spool: Spool, _ now: Timestamp, _ deadline: DueTime?) throws(FileError) {
        isServed = ((try? spool.uploaderMark.read()) ?? nil)?.isRunning ?? false
        standstill = spool.standstill(at: now)
        let listing = try spool.scan(sizes: true)
        problem = listing.problems.first?.description
        let lateBefore = deadline?.standing(at: now).lateBefore
        var times: [Timestamp] = []
        for entry in listing.entries {
            pending += 1
            bytes.add(entry.size?.bytes ?? 0)
            oldest = min(oldest ?? entry.created, entry.created)
            if let lateBefore, entry.created < lateBefore { late += 1 }
            times.append(entry.created)
        }
        for name in try spool.lanes.names() {
            let lane = try Spool.open(spool.lanes.path(of: name), access: .read)
            standstill = standstill ?? lane.standstill(at: now)
            for entry in try lane.scan(sizes: true).entries {
                pending += 1
                bytes.add(entry.size?.bytes ?? 0)
                oldest = min(oldest ?? entry.created, entry.created)
                times.append(entry.created)
            }
        }
        // The last two days with deliveries show how often something comes.
        for day in spool.sentDays(note: { problem = problem ?? $0.description }).suffix(2) {
            for name in (try? day.names()) ?? [] { if let segment = SegmentName(name) { times.append(segment.created) } }
        }
        problem = problem ?? spool.stateFailure?.description
        times.sort()
        last = times.last
        isSilent = Silence.isUnusual(times, now: now)
    }

    private var remark: String {
        problem ?? [standstill?.text, isSilent ? "silent for longer than usual" : nil].compactMap(\.self).joined(separator: "; ")
    }

    static func table(_ fleet: [FleetStatus], now: Timestamp) -> [String] {
        var table = Table(["SPOOL", "SEGMENTS", "SIZE", "LAST", "OLDEST", "LATE", ""], rightAligned: [1, 2, 3, 4, 5])
        func age(_ time: Timestamp?) -> String { time.map { (now - $0).forPeople } ?? "-" }
        for machine in fleet {
            table.add([
                machine.spool, "\(machine.pending)", "\(ByteCount(machine.bytes))", age(machine.last), age(machine.oldest),
                "\(machine.late)", machine.remark,
            ])
        }
        return table.lines
    }
}
