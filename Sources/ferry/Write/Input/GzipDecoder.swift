import FerrySpool

/// Decompresses gzip of any number of members.
final class GzipDecoder: InputDecoder {
    private var reader = GzipReader(limit: ByteCount(.max))

    func feed(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        do { try reader.feed(bytes, body) } catch let error as GzipError { throw DecodingFailure(description: "\(error)") }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        do { try reader.finish(body) } catch let error as GzipError { throw DecodingFailure(description: "\(error)") }
    }
}
