import FerryReceiver

extension CommandError {
    init(_ error: MachineChangeError) {
        switch error {
        case .file(let error): self.init(error)
        case .unreadable, .refused: self.init(.badConfiguration, error.description)
        }
    }
}
