import FerrySpool

/// Columns of text with even gaps; numbers are aligned to the right.
struct Table {
    private struct Row {
        var cells: [String]
        var color: (Colors.Color, column: Int)?
    }

    private var rows: [Row]
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = []) {
        rows = [Row(cells: header)]
        self.rightAligned = rightAligned
    }

    /// Adds a row; what a terminal would obey stands escaped.
    mutating func add(_ row: [String]) { rows.append(Row(cells: row.map { $0.printable() })) }

    /// Adds a row with one cell in a colour.
    mutating func add(_ row: [String], color: Colors.Color, in column: Int) {
        add(row)
        rows[rows.count - 1].color = (color, column)
    }

    var lines: [String] { lines(.none) }

    /// Returns the lines with their colours: the only thing in them that a terminal obeys.
    func lines(_ colors: Colors) -> [String] {
        let widths = rows[0].cells.indices.map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
        return rows.map { row in
            let last = row.cells.lastIndex { !$0.isEmpty } ?? 0
            let cells = row.cells[...last].enumerated().map { column, cell in
                let isLast = column == last
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                let shown = row.color.map { $0.column == column ? colors.paint(cell, $0.0) : cell } ?? cell
                return rightAligned.contains(column) ? gap + shown : isLast ? shown : shown + gap
            }
            return cells.joined(separator: "  ")
        }
    }
}
