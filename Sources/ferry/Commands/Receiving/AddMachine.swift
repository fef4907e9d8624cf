import ArgumentParser
import FerryReceiver
import FerrySpool

struct AddMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make a machine and its spool, and print its token, once.",
        discussion: """
            With --certificate it is known by that client certificate, and gets no token.

            Example: ferry machine add press-7 --machines hub --save press-7.token
            """)

    @OptionGroup var machine: MachineOptions
    @OptionGroup var output: TokenOutput
    @OptionGroup var limits: LimitOptions

    @Option(help: ArgumentHelp("Know the machine by this client certificate (PEM), of any issuer.", valueName: "file"))
    var certificate: String?

    func run() throws {
        let name = try machine.machineName()
        let digest = try knownCertificate()
        let token = digest == nil ? newToken() : nil
        // Before anything is made.
        if token != nil { try output.check() }
        let hasList: Bool
        do throws(FileError) {
            try machine.hub.folder.make()
            hasList = try machine.hub.folder.beginList()
        } catch {
            throw CommandError(error)
        }
        let list = machine.hub.folder.listPath
        guard hasList else {
            throw CommandError(
                .badConfiguration,
                "\(list) is gone, although machines have spools here: bring it back, or make an empty one (: >\(list)), and each of them is to be added anew"
            )
        }
        // Before anything is made. Under the lock of the list it is looked at again.
        if let refusal = try refusal(of: name, digest, machine.hub.list()) { throw CommandError(refusal) }
        // Of a machine that there is already no token is printed: the change refuses it.
        var shown: MachineToken?
        if let token, try machine.hub.list()[name].map(\.isRevoked) ?? true {
            try output.show(token)
            shown = token
        }
        try output.admit(shown) {
            do throws(FileError) {
                // Before the name: what sends must find it.
                try machine.hub.folder.makeSpool(of: name)
            } catch {
                throw CommandError(error)
            }
            try self.add(name, token, digest)
        }
        let means = token == nil ? "its certificate (--cert, --key)" : output.means
        Log(isQuiet: false).note("\(name) may send to \(machine.hub.folder.spoolPath(of: name)) by \(means)")
    }

    private func add(_ name: MachineName, _ token: MachineToken?, _ digest: BodyDigest?) throws {
        try machine.hub.change { list throws(MachineChangeError) in
            if let refusal = refusal(of: name, digest, list) { throw refusal }
            var new = list[name] ?? Machine(name, since: .now())
            limits.apply(to: &new.limits)
            if let token { new.tokens = [.init(digest: token.digest)] }
            if let digest { new.certificates = [digest] }
            list[name] = new
        }
    }

    /// Returns why a list takes no such machine.
    private func refusal(of name: MachineName, _ digest: BodyDigest?, _ list: MachineList) -> MachineChangeError? {
        if let machine = list[name], !machine.isRevoked {
            return .refused("there is a machine \(name) already; ferry machine rotate \(name) gives it another token")
        }
        guard let digest, let other = list.machines.first(where: { $0.certificates.contains(digest) }) else { return nil }
        return .refused("\(other.name) is known by this certificate already")
    }

    private func knownCertificate() throws -> BodyDigest? {
        guard let certificate else { return nil }
        do throws(ClientCertificate.UnusableError) {
            return try ClientCertificate.digest(certificate)
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
    }
}
