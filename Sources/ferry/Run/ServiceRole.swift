import ArgumentParser

/// What a unit does.
enum ServiceRole: String, CaseIterable, ExpressibleByArgument {
    case run, upload, receive

    /// The file names of its units; the last is the one to enable.
    var unitNames: [String] {
        switch self {
        case .run: ["ferry.service"]
        case .upload: ["ferry-upload.service", "ferry-upload.timer"]
        case .receive: ["ferry-receive.service"]
        }
    }
}
