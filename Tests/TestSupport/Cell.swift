/// A value that expectations may change: `#expect` takes its operands as constants.
package final class Cell<Value> {
    package var value: Value
    package init(_ value: Value) { self.value = value }

    package func callAsFunction<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
