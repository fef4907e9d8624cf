import FerrySpool

/// Reads an input: lines or, of arrays, elements, decompressed where need be, with bounded memory.
final class InputReader {
    private static let longestRead = 1 << 18
    /// What was read from a pipe is in no other place: less of it is lost with the process.
    private static let longestReadFromPipe = 1 << 16

    private let file: OpenFile
    private let input: UnsafeMutableRawBufferPointer
    /// The first bytes, until they tell the form.
    private var headLength = 0
    /// How it is compressed; `nil` until that can be told.
    private(set) var form: InputForm?
    private var decoder: (any InputDecoder)?
    /// How much of the input, as it is, has been read.
    private(set) var bytesRead: Int64 = 0
    private var lines: LineBuffer
    private var array: JSONArrayCutter?

    /// - Parameter isArray: Its events are the elements of arrays.
    init(_ file: OpenFile, isArray: Bool) {
        self.file = file
        let isRegular = (try? file.status())?.isRegular == true
        input = .allocate(byteCount: isRegular ? Self.longestRead : Self.longestReadFromPipe, alignment: 16)
        lines = LineBuffer(readSize: input.count)
        array = isArray ? JSONArrayCutter() : nil
    }

    deinit { input.deallocate() }

    enum Piece {
        /// A whole line without its line feed, or an element.
        case line(UnsafeBufferPointer<UInt8>)
        /// A part of a line that is too long, the last one with its line feed.
        case tooLong(UnsafeBufferPointer<UInt8>, isStart: Bool)
        /// An element that is no event.
        case invalid(UnsafeBufferPointer<UInt8>, JSONLineError)
    }

    /// Bytes of a line or an element that has not ended yet.
    var unfinished: Int { array?.unfinished ?? lines.unfinished }

    /// Reads once, as much as is there, and hands on what is whole then.
    ///
    /// - Returns: `false` at the end of the input. A last line without line feed counts as whole there.
    /// - Throws: ``DecodingFailure``, `JSONLineError` for what is no array, `FileError`, or what `body` throws.
    func read(_ body: (Piece) throws -> Void) throws -> Bool {
        if form == .plain, array == nil {
            // The usual case, without a copy.
            let count = try file.read(into: lines.space)
            bytesRead += Int64(count)
            if count == 0 {
                try lines.finish { piece, _ in try body(piece) }
            } else {
                try lines.take(count) { piece, _ in try body(piece) }
            }
            return count > 0
        }
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: input[headLength...]))
        bytesRead += Int64(count)
        let bytes = UnsafeRawBufferPointer(rebasing: input[..<(headLength + count)])
        if form == nil {
            guard let form = InputForm(bytes, isWhole: count == 0) else {
                headLength = bytes.count
                return true
            }
            self.form = form
            decoder = try form.decoder()
            headLength = 0
        }
        if let decoder {
            try decoder.feed(bytes) { try cut($0, body) }
        } else {
            try cut(bytes, body)
        }
        guard count == 0 else { return true }
        try decoder?.finish { try cut($0, body) }
        if let array { try array.finish() } else { try lines.finish { piece, _ in try body(piece) } }
        return false
    }

    private func cut(_ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws -> Void) throws {
        guard array != nil else { return try lines.feed(bytes) { piece, _ in try body(piece) } }
        try array?.feed(UnsafeBufferPointer(start: bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count)) { element in
            switch element {
            case .event(let text): try body(.line(text))
            case .invalid(let text, let problem): try body(.invalid(text, problem))
            }
        }
    }
}
