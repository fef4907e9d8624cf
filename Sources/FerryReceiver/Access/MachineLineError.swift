/// What is wrong with a line.
struct MachineLineError: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
