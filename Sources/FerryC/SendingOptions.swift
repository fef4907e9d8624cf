import FerrySpool
import FerryUpload
import FoundationEssentials

/// The options of `ferry_start_sending`, as ferry.h lists them.
struct SendingOptions: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case to, headers, tokenFile, body, trackingId, parallel, order, timeout, ca, cert, key, keepSent
    }

    private enum Form { case ndjson, jsonArray, sensors, appCenter, measurement }

    /// What is to be sent where, and how.
    let upload: UploadOptions

    init(from decoder: any Decoder) throws {
        let options = try OptionReader(decoder, Key.self)
        guard let to = try options.text(.to) else { throw OptionProblem(description: "'to' is missing: where to send") }
        var result: UploadOptions
        do throws(DestinationURLError) {
            result = UploadOptions(destination: try DestinationURL(to))
            result.transport.proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw OptionProblem(description: "'to': \(error)")
        }
        result.headers = try Self.headers(options.texts(.headers) ?? [:])
        do { result.secretFiles = try SecretFile.watched(headers: nil, token: options.text(.tokenFile)) } catch {
            throw OptionProblem(description: "'tokenFile': \(error)")
        }
        if let body = try Self.body(options) { result.body = body }
        if let parallel = try options.positive(.parallel, Int.self) {
            guard parallel <= 256 else { throw OptionProblem(description: "'parallel' must be 1 to 256") }
            result.parallel = parallel
        }
        if let order = try options.word(.order, [("priority", PassPlan.Order.priority), ("strict", .strict)]) {
            result.order = order
        }
        if let timeout = try options.seconds(.timeout) { result.transport.idleTimeout = timeout }
        result.transport.certificateAuthority = try options.text(.ca)
        result.transport.certificate = try options.text(.cert)
        result.transport.privateKey = try options.text(.key)
        guard (result.transport.certificate == nil) == (result.transport.privateKey == nil) else {
            throw OptionProblem(description: "'cert' and 'key' belong together")
        }
        if let keeps = try options.flag(.keepSent) {
            result.keepsSent = keeps
            (result.sentRetention, result.sentGivesWay) = (RetentionLimits(), false)
        }
        upload = result
    }

    private static func headers(_ texts: [String: String]) throws -> [UploadOptions.Header] {
        try texts.sorted { $0.key < $1.key }.map { name, value in
            do throws(HeaderError) {
                var header = try HeaderText.parse("\(name): \(value)", from: "'headers'", quotes: false)
                // A program's options are seen by no other user.
                header.isSecret = HeaderText.secretNames.contains(name.lowercased())
                return header
            } catch {
                throw OptionProblem(description: error.description)
            }
        }
    }

    private static func body(_ options: OptionReader<Key>) throws -> BodyFormat? {
        let trackingID = try options.text(.trackingId)
        let form = try options.word(
            .body,
            [
                ("ndjson", Form.ndjson), ("json-array", .jsonArray), ("sensors", .sensors), ("appcenter", .appCenter),
                ("measurement", .measurement),
            ])
        switch form {
        case nil: return nil
        case .ndjson: return .ndjson
        case .jsonArray: return .jsonArray
        case .sensors: return .sensors
        case .appCenter: return .appCenter
        case .measurement:
            guard let trackingID else {
                throw OptionProblem(description: "'body' measurement needs 'trackingId', the property's ID")
            }
            return .measurement(trackingID: trackingID)
        }
    }
}
