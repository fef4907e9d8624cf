import FerrySpool
import FerryTracker
import FoundationEssentials
import Glibc

/// An argument that a C caller got wrong.
struct InvalidArgumentError: Error, CustomStringConvertible {
    let description: String

    /// Returns the text of an argument that must be there.
    static func text(_ argument: UnsafePointer<CChar>?, _ what: String) throws(InvalidArgumentError) -> String {
        guard let argument else { throw InvalidArgumentError(description: "\(what) is NULL") }
        guard let text = String(validatingCString: argument) else {
            throw InvalidArgumentError(description: "\(what) is not UTF-8")
        }
        return text
    }

    /// Returns the value of a JSON object; `fallback` for NULL.
    static func json<Value: Decodable>(
        _ argument: UnsafePointer<CChar>?, or fallback: Value, _ what: String
    ) throws(InvalidArgumentError) -> Value {
        guard let argument else { return fallback }
        let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument)).withMemoryRebound(to: UInt8.self) { Data($0) }
        do {
            return try JSONDecoder().decode(Value.self, from: bytes)
        } catch let problem as OptionError {
            throw InvalidArgumentError(description: "\(what): \(problem)")
        } catch {
            throw InvalidArgumentError(
                description: "\(what) are no JSON object: \(String(decoding: bytes.prefix(80), as: UTF8.self))")
        }
    }

    /// Returns an event's properties; none for NULL.
    static func properties(
        _ argument: UnsafePointer<CChar>?, _ what: String = "the properties"
    ) throws(InvalidArgumentError) -> EventProperties {
        guard let argument else { return [:] }
        let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument))
        do throws(PropertiesError) {
            return try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(PropertiesError) in try EventProperties(json: bytes)
            }
        } catch {
            throw InvalidArgumentError(
                description: "\(what) \(error): \(String(decoding: UnsafeRawBufferPointer(bytes).prefix(80), as: UTF8.self))")
        }
    }

    /// Returns a number of seconds as a duration. The caller checks its range.
    static func seconds(_ number: Double, _ what: String) throws(InvalidArgumentError) -> Duration {
        guard !number.isNaN else { throw InvalidArgumentError(description: "\(what) is no number") }
        return Duration(boundedSeconds: number)
    }

    static func priority(_ level: CInt) throws(InvalidArgumentError) -> Priority {
        guard let priority = Priority(Int(level)) else {
            throw InvalidArgumentError(description: "the priority is \(level), and must be 0 to 9")
        }
        return priority
    }
}
