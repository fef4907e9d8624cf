/// A value that expectations may change: `#expect` takes its operands as constants.
public final class Cell<Value> {
    public var value: Value
    public init(_ value: Value) { self.value = value }

    public func callAsFunction<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
