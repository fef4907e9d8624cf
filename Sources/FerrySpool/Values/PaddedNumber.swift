extension String {
    /// Makes the text of a number, with zeros before it up to a number of digits.
    package init(_ number: some FixedWidthInteger & UnsignedInteger, radix: Int = 10, width: Int) {
        let digits = String(number, radix: radix)
        let missing = width - digits.utf8.count
        self.init(repeating: "0", count: missing > 0 ? missing : 0)
        self += digits
    }
}
