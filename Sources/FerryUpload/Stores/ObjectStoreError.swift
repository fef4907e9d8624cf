import FerrySpool

/// Why an object store did not do what was asked.
package struct ObjectStoreError: Error, CustomStringConvertible {
    /// What may help.
    package enum Kind: Equatable, Sendable {
        /// A person must mend something.
        case misconfigured
        /// The credentials are known there, and may not do this.
        case denied
        /// It may pass.
        case unavailable
        /// The object is gone, or another one has its name.
        case changed
        /// The store does not give this object, and may give others.
        case withheld
        /// What came is no answer of a store.
        case garbage
    }

    /// What may help.
    package let kind: Kind
    /// The reason, for people, in one line.
    package let description: String
    /// Whether other objects may be had all the same.
    let mayBeOfObject: Bool

    /// Whether it is about one object, and others are to be read.
    package var isOfObject: Bool { kind == .changed || kind == .withheld }

    init(_ kind: Kind, _ description: String, mayBeOfObject: Bool = false) {
        self.kind = kind
        self.description = description
        self.mayBeOfObject = mayBeOfObject
    }

    /// Returns the same error as one of an object alone.
    func ofObject() -> ObjectStoreError { ObjectStoreError(.withheld, description) }

    /// Tells of an answer, or of none.
    init(_ verdict: Verdict, isDenied: Bool = false, mayBeOfObject: Bool = false, of place: String) {
        let message = "\(place): \(verdict.reason?.message ?? "an answer that means nothing")"
        switch verdict {
        case .misconfigured: self.init(isDenied ? .denied : .misconfigured, message, mayBeOfObject: mayBeOfObject)
        case .delivered, .unavailable, .doubtful, .circling, .tooLarge, .brokenOff, .refused, .moved, .withdrawn:
            self.init(.unavailable, message, mayBeOfObject: mayBeOfObject)
        }
    }
}
