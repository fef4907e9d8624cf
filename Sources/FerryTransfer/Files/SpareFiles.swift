import FerrySpool

/// Files that are open for nothing: given back, they are what the next step can open when the process may open no more.
struct SpareFiles {
    /// More than the log of keys, the ledger and the marks need at once.
    private static let count = 16
    private var files: [OpenFile] = []

    mutating func fill() {
        while files.count < Self.count, let file = try? OpenFile.inMemory() { files.append(file) }
    }

    mutating func giveBack() { files = [] }
}
