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

extension CompressionLevel: ExpressibleByArgument {
    public init?(argument: String) {
        guard let level = Int(argument) else { return nil }
        self.init(level)
    }
    public var defaultValueDescription: String { "6" }
}

extension Verification: ExpressibleByArgument {}
extension SplitPolicy: ExpressibleByArgument {}

extension CoalescePolicy: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension PassPlan.Order: ExpressibleByArgument {}
extension DeliveryDeadline.Late: ExpressibleByArgument {}
