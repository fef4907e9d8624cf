import FerrySpool
import Glibc

/// Reads zstd files with the machine's own library, if there is one.
enum Zstandard {
    struct MissingError: Error, CustomStringConvertible {
        let description = "libzstd.so.1 is missing; install libzstd1, or decompress with zstd -d"
    }

    struct DamagedError: Error, CustomStringConvertible { let description: String }

    // zstd.h: struct ZSTD_inBuffer { const void* src; size_t size; size_t pos; }, and the same for output.
    private struct Buffer {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    private typealias Create = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer?) -> Int
    private typealias Decompress = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    private typealias IsError = @convention(c) (Int) -> UInt32

    /// Decompresses a whole file in constant memory.
    static func decompress(_ file: OpenFile, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let library = dlopen("libzstd.so.1", RTLD_NOW), let create = dlsym(library, "ZSTD_createDStream"),
            let free = dlsym(library, "ZSTD_freeDStream"), let decompress = dlsym(library, "ZSTD_decompressStream"),
            let isError = dlsym(library, "ZSTD_isError")
        else { throw MissingError() }
        let stream = unsafeBitCast(create, to: Create.self)()
        defer { _ = unsafeBitCast(free, to: Free.self)(stream) }
        let source = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer {
            source.deallocate()
            target.deallocate()
        }
        var offset: Int64 = 0
        var left = 1
        while true {
            let count = try file.read(into: source, at: offset)
            if count == 0 { break }
            offset += Int64(count)
            var input = Buffer(start: source.baseAddress, size: count)
            while input.position < input.size {
                var output = Buffer(start: target.baseAddress, size: target.count)
                left = unsafeBitCast(decompress, to: Decompress.self)(stream, &output, &input)
                guard unsafeBitCast(isError, to: IsError.self)(left) == 0 else {
                    throw DamagedError(description: "no zstd, or damaged")
                }
                try body(UnsafeRawBufferPointer(rebasing: target[..<output.position]))
            }
        }
        if left != 0 { throw DamagedError(description: "the zstd data ends too early") }
    }
}
