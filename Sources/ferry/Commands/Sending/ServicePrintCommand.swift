import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct ServicePrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Print the units.",
        discussion: "Example: ferry service print --config /etc/ferry/ferry.yaml")

    @OptionGroup var unit: UnitOptions

    func run() throws {
        for (name, text) in unit.units() {
            try StandardOutput.print("# \(name)")
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try StandardOutput.print(String(line)) }
        }
        try StandardOutput.flush()
    }
}
