/// The data of a path: lines along the axes between whole numbers, in the short form.
struct SVGPath {
    private(set) var data = ""
    private var last: (x: Int, y: Int)?
    /// How far it goes along before it goes up or down.
    private var run = 0

    /// Begins a new part.
    mutating func move(to x: Int, _ y: Int) {
        data += "M\(x) \(y)"
        last = (x, y)
    }

    /// Draws a line along one axis, or two: up or down, then along.
    mutating func line(to x: Int, _ y: Int) {
        guard let from = last else { return move(to: x, y) }
        if y != from.y {
            endRun()
            data += "v\(y - from.y)"
        }
        run += x - from.x
        last = (x, y)
    }

    /// Closes the part.
    mutating func close() {
        endRun()
        data += "z"
        last = nil
    }

    private mutating func endRun() {
        if run != 0 { data += "h\(run)" }
        run = 0
    }
}
