/// How an input is compressed, as its first bytes tell: no JSON begins with these.
enum InputForm: Equatable {
    case plain, gzip, zstd

    private static let gzipStart: [UInt8] = [0x1f, 0x8b]
    private static let zstdStart: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]

    /// - Parameters:
    ///   - head: The first bytes.
    ///   - isWhole: No more come.
    /// - Returns: `nil` when too few are there to tell.
    init?(_ head: some Collection<UInt8>, isWhole: Bool) {
        for (form, start) in [(Self.gzip, Self.gzipStart), (.zstd, Self.zstdStart)] {
            if head.starts(with: start) {
                self = form
                return
            }
            if !isWhole, start.starts(with: head) { return nil }
        }
        self = .plain
    }

    /// The program that prints what is compressed; `nil` for what is not.
    var program: String? {
        switch self {
        case .plain: nil
        case .gzip: "zcat"
        case .zstd: "zstdcat"
        }
    }

    /// Makes what decompresses it; `nil` for what is not compressed.
    func decoder() throws(DecodingFailure) -> (any InputDecoder)? {
        switch self {
        case .plain: nil
        case .gzip: GzipDecoder()
        case .zstd: try ZstdDecoder()
        }
    }
}

/// Decompresses an input, piece by piece.
protocol InputDecoder: AnyObject {
    /// Takes the next piece and hands on what comes out.
    func feed(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
    /// Ends the input, and hands on the rest.
    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// Why an input could not be decompressed.
struct DecodingFailure: Error, CustomStringConvertible {
    let description: String
}
