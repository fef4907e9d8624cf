import Glibc

/// Decompresses Zstandard (RFC 8878) with the library that nearly every Linux has, since its package manager needs it. It is loaded for the first such
/// input, so Ferry runs without it, and is no larger for it.
final class ZstdDecoder: InputDecoder {
    private typealias Create = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer?) -> Int
    /// `ZSTD_inBuffer` and `ZSTD_outBuffer` are an address, a length and a position.
    private typealias Decompress =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    private typealias Buffer = (address: Int, length: Int, position: Int)
    private typealias IsError = @convention(c) (Int) -> UInt32
    private typealias ErrorName = @convention(c) (Int) -> UnsafePointer<CChar>?

    private let stream: OpaquePointer
    private let free: Free
    private let decompress: Decompress
    private let isError: IsError
    private let errorName: ErrorName
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
    private var consumed: Int64 = 0
    /// How much the library wants next: 0 between frames.
    private var wanted = 0

    private static let library = "libzstd.so.1"

    init() throws(DecodingFailure) {
        func symbol<Function>(_ name: String, _ type: Function.Type) throws(DecodingFailure) -> Function {
            guard let library = dlopen(Self.library, RTLD_NOW | RTLD_LOCAL), let found = dlsym(library, name) else {
                throw DecodingFailure(
                    description:
                        "it is compressed with zstd, and this machine has no \(Self.library), which reads that (Debian: libzstd1)"
                )
            }
            return unsafeBitCast(found, to: type)
        }
        free = try symbol("ZSTD_freeDStream", Free.self)
        decompress = try symbol("ZSTD_decompressStream", Decompress.self)
        isError = try symbol("ZSTD_isError", IsError.self)
        errorName = try symbol("ZSTD_getErrorName", ErrorName.self)
        guard let stream = try symbol("ZSTD_createDStream", Create.self)() else {
            throw DecodingFailure(description: "there is no memory to decompress it")
        }
        self.stream = stream
    }

    deinit {
        _ = free(stream)
        output.deallocate()
    }

    func feed(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if bytes.isEmpty { return }
        var input: Buffer = (Int(bitPattern: bytes.baseAddress), bytes.count, 0)
        while true {
            var produced: Buffer = (Int(bitPattern: output.baseAddress), output.count, 0)
            let before = input.position
            wanted = decompress(stream, &produced, &input)
            guard isError(wanted) == 0 else {
                let name = errorName(wanted).map { String(cString: $0) } ?? "it is damaged"
                throw DecodingFailure(description: "the zstd data is corrupt at byte \(consumed + Int64(before)): \(name)")
            }
            // Positions come from the library, and lie within the lengths that it was given.
            if produced.position > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<produced.position])) }
            // At the end of a frame it would begin with another one.
            if input.position == input.length, produced.position < produced.length || wanted == 0 { break }
        }
        consumed += Int64(bytes.count)
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if wanted != 0 { throw DecodingFailure(description: "the zstd data ends early, at byte \(consumed)") }
    }
}
