import FerrySpool

/// The machines of a hub, as its file has them: `HUB/.machines.jsonl`, one a line.
package struct MachineList: Sendable {
    /// In the order of the file.
    package internal(set) var machines: [Machine] = []
    /// Lines that are no machine, each with its place: the machines that they are for are refused until they are mended.
    package internal(set) var problems: [String] = []

    static let fileName = ".machines.jsonl"
    /// A hundred thousand machines.
    static let longest = ByteCount.mebibytes(64)

    /// Creates a list without machines.
    package init() {}

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - path: For the words of problems.
    init(_ bytes: [UInt8], path: String) {
        var names: Set<MachineName> = []
        var shown: Set<BodyDigest> = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }) else { continue }
            do throws(MachineLineError) {
                let decoded = line.withUnsafeBufferPointer { JSONLine.decode(MachineLine.self, $0) }
                guard let decoded else {
                    throw MachineLineError("must be JSON with 'name' and 'since', as `ferry machine add` writes it")
                }
                let machine = try decoded.machine()
                guard names.insert(machine.name).inserted else { throw MachineLineError("'name' \(machine.name) is there twice") }
                let digests = machine.tokens.map(\.digest) + machine.certificates
                guard shown.isDisjoint(with: digests) else {
                    throw MachineLineError("\(machine.name) shares a token or certificate with another machine")
                }
                shown.formUnion(digests)
                machines.append(machine)
            } catch {
                problems.append("\(path):\(index + 1): \(error.text)")
            }
        }
    }

    /// Accesses the machine of a name; setting it puts it in its place, or at the end.
    package subscript(_ name: MachineName) -> Machine? {
        get { machines.first { $0.name == name } }
        set {
            if let place = machines.firstIndex(where: { $0.name == name }) {
                machines[place...place] = (newValue.map { [$0] } ?? [])[...]
            } else if let newValue {
                machines.append(newValue)
            }
        }
    }

    var bytes: [UInt8] { machines.flatMap { JSONLine.encode(MachineLine($0)) } }
}
