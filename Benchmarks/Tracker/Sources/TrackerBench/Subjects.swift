import CSQLite
import FerrySpool
import FerryTracker
import Foundation
import Logging
import Synchronization

/// What stores an event with eight properties.
protocol Subject: Sendable {
    func store(_ number: Int, _ thread: Int)
    func finish()
}

struct FerrySubject: Subject {
    let tracker: EventTracker

    init(_ folder: String, _ durability: Durability) throws {
        var configuration = TrackerConfiguration()
        configuration.durability = durability
        tracker = try EventTracker(spool: folder + "/spool", configuration: configuration)
    }

    func store(_ number: Int, _ thread: Int) {
        must {
            try tracker.track(
                "request finished",
                properties: [
                    "path": "/api/v1/segments", "status": 200, "duration": .double(Double(number % 1000) / 8), "cached": false,
                    "number": .int(number), "thread": .int(thread), "region": "eu-central-1", "method": "POST",
                ])
        }
    }

    /// A benchmark of failures would say nothing.
    private func must(_ body: () throws -> Void) {
        do { try body() } catch { fatalError("\(error)") }
    }

    func finish() { must { try tracker.close() } }
}

/// The line that Ferry stores, made as a program without it would.
private func line(_ number: Int, _ thread: Int) -> String {
    "{\"v\":1,\"time\":\"2026-11-21T10:00:00.000Z\",\"name\":\"request finished\",\"id\":\"0f8fad5b-d9cb-469f-a165-70867728950e\",\"session\":\"7c9e6679-7425-40de-944b-e07fc1f90ae7\",\"user\":null,\"device\":{\"id\":\"16fd2706-8baf-433b-82eb-8c7fada847da\",\"os\":\"Debian GNU/Linux\",\"osVersion\":\"12\",\"kernel\":\"6.1.0-18-cloud-amd64\",\"architecture\":\"x86_64\",\"model\":\"Standard PC\",\"locale\":\"en_US\",\"country\":\"US\",\"timeZone\":\"Etc/UTC\",\"timeZoneOffset\":0,\"app\":\"tracker-bench\",\"sdk\":\"ferry.swift\",\"sdkVersion\":\"0.1.0\"},\"properties\":{\"path\":\"/api/v1/segments\",\"status\":200,\"duration\":\(Double(number % 1000) / 8),\"cached\":false,\"number\":\(number),\"thread\":\(thread),\"region\":\"eu-central-1\",\"method\":\"POST\"}}"
}

/// swift-log with a handler that appends each message to a file.
struct LogSubject: Subject {
    private let logger: Logger

    init(_ folder: String) {
        let file = FileLog(folder + "/log.jsonl")
        logger = Logger(label: "bench") { _ in file }
    }

    func store(_ number: Int, _ thread: Int) { logger.info("\(line(number, thread))") }
    func finish() {}
}

private struct FileLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var text = "\(event.message)\n"
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}

/// One insert and one transaction an event, in WAL mode without fsync: what survives the process and not a power cut, as Ferry's default.
final class SQLiteSubject: Subject {
    private struct Database: @unchecked Sendable {
        // Only used under the lock.
        var handle: OpaquePointer?
        var insert: OpaquePointer?
    }

    private let database: Mutex<Database>

    init(_ folder: String) {
        var opened = Database()
        sqlite3_open(folder + "/events.db", &opened.handle)
        sqlite3_exec(
            opened.handle,
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE events (id INTEGER PRIMARY KEY, line TEXT)",
            nil, nil, nil)
        sqlite3_prepare_v2(opened.handle, "INSERT INTO events (line) VALUES (?)", -1, &opened.insert, nil)
        database = Mutex(opened)
    }

    func store(_ number: Int, _ thread: Int) {
        let text = line(number, thread)
        database.withLock { database in
            // SQLITE_TRANSIENT: the text is copied.
            sqlite3_bind_text(database.insert, 1, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            sqlite3_step(database.insert)
            sqlite3_reset(database.insert)
        }
    }

    func finish() {}
}

/// One write(2) of such a line: the limit of what survives a process.
struct WriteSubject: Subject {
    private let descriptor: Int32
    private let bytes = Array((line(123_456, 0) + "\n").utf8)

    init(_ folder: String) { descriptor = open(folder + "/raw.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0o600) }

    func store(_ number: Int, _ thread: Int) { _ = write(descriptor, bytes, bytes.count) }
    func finish() {}
}
