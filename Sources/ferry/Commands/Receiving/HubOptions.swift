import ArgumentParser
import FerryReceiver
import FerrySpool

struct HubOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The hub's folder.", valueName: "dir"))
    var machines: String

    var folder: MachineFolder { MachineFolder(machines) }

    func list() throws -> MachineList {
        do throws(FileError) { return try folder.list() } catch { throw CommandError(error) }
    }

    func change(_ body: (inout MachineList) throws(MachineChangeError) -> Void) throws {
        do throws(MachineChangeError) {
            try folder.change(body)
        } catch {
            throw CommandError(error)
        }
    }
}
