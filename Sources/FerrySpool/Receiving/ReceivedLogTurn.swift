/// The turn of one process to log received keys, into the log of any day.
///
/// The lock's file holds a number that each turn in which something is logged makes larger: a process that finds the number that it knows need not
/// look at every log that is there.
final class ReceivedLogTurn {
    private let file: OpenFile
    private(set) var number: Int64

    static let lockName = "received.lock"
    /// A file that was removed begins anew, and no number comes twice.
    private static let beginnings: ClosedRange<Int64> = 1 << 32...1 << 52
    private static let mostDigits = 20

    /// Waits for the turn, for a bounded time.
    init(in folder: Directory, within patience: Duration) throws(FileError) {
        var locked = try folder.lock(Self.lockName, within: patience)
        // Who comes to a file that took its place would have the turn as well.
        while try folder.status(Self.lockName)?.identity != locked.status().identity {
            locked = try folder.lock(Self.lockName, within: patience)
        }
        let file = locked
        self.file = file
        do throws(FileError) {
            let bytes = try file.readBytes(Self.mostDigits, at: 0)
            let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            number = Int64(text).flatMap { $0 > 0 && $0 < .max ? $0 : nil } ?? .random(in: Self.beginnings)
        } catch {
            file.unlock()
            throw error
        }
    }

    /// Counts the turn, when something is about to be logged.
    func count() throws(FileError) {
        let next = number + 1
        // Always as long: no digit of an earlier number is left behind.
        try file.write(Array("\(String(UInt64(next), width: Self.mostDigits - 1))\n".utf8), at: 0)
        number = next
    }

    func end() { file.unlock() }
}
