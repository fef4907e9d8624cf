extension String {
    /// Returns the longest part at the start with at most this number of UTF-16 code units that ends between two characters; `nil` when all of it
    /// fits.
    func cut(to maximum: Int) -> Substring? {
        guard utf8.count > maximum, utf16.count > maximum else { return nil }
        var length = 0
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            length += self[end..<next].utf16.count
            if length > maximum { break }
            end = next
        }
        return end > startIndex ? self[..<end] : firstScalars(of: maximum)
    }

    /// Returns the first scalars of a text whose first character alone is too long, by the marks that it combines.
    private func firstScalars(of maximum: Int) -> Substring {
        var length = 0
        let end = unicodeScalars.indices.first { index in
            length += unicodeScalars[index].utf16.count
            return length > maximum
        }
        return self[..<(end ?? endIndex)]
    }
}
