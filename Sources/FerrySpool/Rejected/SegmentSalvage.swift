extension OpenFile {
    /// Copies the events that can be trusted into new members, up to the first damage or the first line that is no JSON. Lines longer than
    /// `LineSalvage.longestLine` are left out.
    ///
    /// To be trusted are gzip members whose checksum is right, and the whole lines of a last one that is cut off. What a corrupt member inflates to
    /// may be altered anywhere, without a sign of it.
    ///
    /// - Parameter takesUnverified: Copy what comes from a corrupt member too.
    func salvage(into target: OpenFile, limit: ByteCount, takesUnverified: Bool = false) throws(FileError) -> Salvaged {
        let (trusted, isWhole) = try trusted(limit: limit)
        var salvage = try LineSalvage(target: target, trusted: trusted, takesUnverified: takesUnverified)
        var isSound = true
        do {
            do { try inflate(limit: limit, strictly: true) { try salvage.add($0) } } catch is GzipError { isSound = false }
            if isWhole { try salvage.endLastLine() }
        } catch is SalvageEndError {
            // What came before it is what can be saved.
            isSound = false
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("salvaging reads gzip and writes a file: \(error)")
        }
        var saved = try salvage.finish()
        saved.isSound = isSound && saved.tooLong == 0
        return saved
    }

    /// Returns how many inflated bytes can be trusted, and whether the last member of the file is whole.
    private func trusted(limit: ByteCount) throws(FileError) -> (bytes: Int64, isWhole: Bool) {
        let size = try status().size.bytes
        var reader = GzipReader(limit: limit, strictly: true)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var (offset, produced): (Int64, Int64) = (0, 0)
        do {
            while true {
                let count = try read(into: buffer, at: offset)
                if count == 0 { break }
                try reader.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { produced += Int64($0.count) }
                offset += Int64(count)
            }
            try reader.finish { produced += Int64($0.count) }
            return (produced, true)
        } catch let damage as GzipError {
            switch damage.kind {
            case .trailingGarbage: return (reader.soundProduced, true)
            case .tooLarge: return (produced, false)
            case .truncated where try !endsAsMember(of: produced - reader.soundProduced, size: size): return (produced, false)
            case .truncated, .corrupt, .notGzip, .empty: return (reader.soundProduced, false)
            }
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("counting bytes throws nothing: \(error)")
        }
    }

    /// Returns whether a file ends with the length of a member that inflates to about `length`: then it is not cut off, but damage keeps the member's
    /// end from being seen. By chance the last four bytes look so in one of 30,000 files.
    private func endsAsMember(of length: Int64, size: Int64) throws(FileError) -> Bool {
        let last = try readBytes(4, at: max(0, size - 4))
        guard last.count == 4 else { return false }
        let told = last.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let difference = Int32(bitPattern: UInt32(truncatingIfNeeded: length) &- told)
        return difference.magnitude <= 1 << 16
    }
}
