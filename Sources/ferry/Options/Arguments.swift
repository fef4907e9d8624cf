public import ArgumentParser
public import FerrySpool
public import FerryUpload

extension ByteCount: ExpressibleByArgument {
    /// No size that is asked for is 0.
    public init?(argument: String) {
        self.init(parsing: argument)
        if self <= .zero { return nil }
    }
    public var defaultValueDescription: String { description }
}

extension Duration: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
    public var defaultValueDescription: String { forPeople }
}

extension Priority: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
    public var defaultValueDescription: String { "\(level)" }
}

extension LevelChoice: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "auto": self = .auto
        case "fast": self = .always(.fastest)
        default:
            guard let level = Int(argument).flatMap({ CompressionLevel($0) }) else { return nil }
            self = .always(level)
        }
    }
    public var defaultValueDescription: String { "auto" }
}

extension Verification: ExpressibleByArgument {}
extension SplitPolicy: ExpressibleByArgument {}

extension CoalescePolicy: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension SendOrder: ExpressibleByArgument {}
extension DueTime.Late: ExpressibleByArgument {}
