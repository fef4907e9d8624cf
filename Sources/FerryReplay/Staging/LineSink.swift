import FerrySpool
import FerryUpload
import Glibc

/// Compresses lines into a file, from the first line on.
final class LineSink {
    private let file: OpenFile
    private var writer: GzipWriter?
    private var batch: [UInt8] = []
    private(set) var events: Int64 = 0

    init(_ file: OpenFile) { self.file = file }

    func add(_ line: UnsafeBufferPointer<UInt8>) throws {
        batch += line
        batch.append(10)
        events += 1
        if batch.count >= 1 << 18 { try flush() }
    }

    func finish() throws {
        try flush()
        try writer?.finish()
    }

    private func flush() throws {
        if writer == nil { writer = try GzipWriter(file: file, level: ReplayOptions.level) }
        try batch.withUnsafeBytes { bytes in try writer?.write(bytes) }
        batch.removeAll(keepingCapacity: true)
    }
}
