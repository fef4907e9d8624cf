import ArgumentParser
import FerrySpool

/// For how long a receiver remembers keys.
enum RememberedFor: ExpressibleByArgument, Equatable {
    case forever
    /// ``ReceivedLog/shortestMemory`` and more.
    case age(Duration)

    init?(argument: String) {
        if argument == "forever" {
            self = .forever
        } else if let age = Duration(parsing: argument), age >= ReceivedLog.shortestMemory {
            self = .age(age)
        } else {
            return nil
        }
    }

    var age: Duration? {
        switch self {
        case .forever: nil
        case .age(let age): age
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .forever: "forever"
        case .age(let age): age.forPeople
        }
    }
}
