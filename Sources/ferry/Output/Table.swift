import FerrySpool

/// Columns of text with even gaps; numbers are aligned to the right.
struct Table {
    private var rows: [[String]]
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = []) {
        rows = [header]
        self.rightAligned = rightAligned
    }

    mutating func add(_ row: [String]) { rows.append(row.map { $0.printable() }) }

    var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                return rightAligned.contains(column) ? gap + cell : cell + gap
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
