import FerrySpool
import FerryTracker
import FoundationEssentials
import Glibc

/// An argument that a C caller got wrong.
struct InvalidArgument: Error, CustomStringConvertible {
    let description: String

    /// The text of an argument that must be there.
    static func text(_ argument: UnsafePointer<CChar>?, _ what: String) throws(InvalidArgument) -> String {
        guard let argument else { throw InvalidArgument(description: "\(what) is NULL") }
        guard let text = String(validatingCString: argument) else { throw InvalidArgument(description: "\(what) is not UTF-8") }
        return text
    }

    /// The value of a JSON object; `fallback` for NULL.
    static func json<Value: Decodable>(
        _ argument: UnsafePointer<CChar>?, or fallback: Value, _ what: String
    ) throws(InvalidArgument) -> Value {
        guard let argument else { return fallback }
        let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument)).withMemoryRebound(to: UInt8.self) { Data($0) }
        do {
            return try JSONDecoder().decode(Value.self, from: bytes)
        } catch let problem as OptionProblem {
            throw InvalidArgument(description: "\(what): \(problem)")
        } catch {
            throw InvalidArgument(
                description: "\(what) are no JSON object: \(String(decoding: bytes.prefix(80), as: UTF8.self))")
        }
    }

    /// An event's properties; none for NULL.
    static func properties(
        _ argument: UnsafePointer<CChar>?, _ what: String = "the properties"
    ) throws(InvalidArgument) -> EventProperties {
        guard let argument else { return [:] }
        let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument))
        do throws(PropertiesError) {
            return try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(PropertiesError) in try EventProperties(json: bytes)
            }
        } catch {
            throw InvalidArgument(
                description: "\(what) \(error): \(String(decoding: UnsafeRawBufferPointer(bytes).prefix(80), as: UTF8.self))")
        }
    }

    /// A number of seconds; which ones make sense is another's to say.
    static func seconds(_ number: Double, _ what: String) throws(InvalidArgument) -> Duration {
        guard !number.isNaN else { throw InvalidArgument(description: "\(what) is no number") }
        return Duration(boundedSeconds: number)
    }

    static func priority(_ level: CInt) throws(InvalidArgument) -> Priority {
        guard let priority = Priority(Int(level)) else {
            throw InvalidArgument(description: "the priority is \(level), and must be 0 to 9")
        }
        return priority
    }
}
