import CFerry
import FerrySpool
import FerryTracker

/// What a C caller is called back by.
///
/// Sendable, because ferry.h says that the functions are called from any thread, and the context is only handed on.
struct Callbacks: @unchecked Sendable {
    private let callbacks: ferry_callbacks

    init(_ callbacks: ferry_callbacks) { self.callbacks = callbacks }

    /// Has a tracker call them.
    func install(in configuration: inout TrackerConfiguration) {
        if callbacks.properties != nil { configuration.dynamicProperties = properties }
        if callbacks.warning != nil { configuration.onWarning = { warn($0) } }
    }

    /// Returns the properties that the callback gives. What is no JSON object is reported as a warning, and gives none.
    private func properties() -> EventProperties {
        do throws(InvalidArgumentError) {
            return try InvalidArgumentError.properties(callbacks.properties?(callbacks.context), "the properties of the callback")
        } catch {
            callbacks.warning?(callbacks.context, error.description)
            return [:]
        }
    }

    private func warn(_ warning: TrackerWarning) {
        Self.$isWarning.withValue(true) { callbacks.warning?(callbacks.context, warning.description) }
    }

    /// The thread is in a callback for a warning, which what sends may wait for: it must not wait for what sends.
    @TaskLocal static var isWarning = false
}
