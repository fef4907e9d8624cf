import FerrySpool
import FerryTracker
import FerryTrackerUpload
import FerryUpload
import FoundationEssentials

/// The options of `ferry_start_sending`, as ferry.h lists them.
struct SendingOptions: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case to, headers, tokenFile, body, trackingId, parallel, order, timeout, ca, cert, key, keepSent
    }

    private enum Form { case ndjson, jsonArray, sensors, appCenter, measurement, otlp, elastic, loki, splunk }

    /// What was said; the rest is the profile's.
    private let to: DestinationURL
    private let changes: @Sendable (inout UploadOptions) -> Void

    /// Returns the options of the upload: what is sent where, and how.
    ///
    /// - Parameter profile: The tracker's.
    func upload(_ profile: TrackerProfile?) -> UploadOptions {
        var options = profile.map { UploadOptions(destination: to, profile: $0) } ?? UploadOptions(destination: to)
        changes(&options)
        return options
    }

    init(from decoder: any Decoder) throws {
        let options = try OptionReader(decoder, Key.self)
        guard let to = try options.text(.to) else { throw OptionError(description: "'to' is missing: where to send") }
        let proxies: ProxySettings
        do throws(DestinationURLError) {
            self.to = try DestinationURL(to)
            proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw OptionError(description: "'to': \(error)")
        }
        let headers = try Self.headers(options.texts(.headers) ?? [:])
        let secretFiles: [HeaderFile]
        let body = try Self.body(options)
        do {
            secretFiles = try SecretFile.watched(
                headers: nil, token: options.text(.tokenFile), scheme: (body ?? .ndjson).tokenScheme)
        } catch {
            throw OptionError(description: "'tokenFile': \(error)")
        }
        let parallel = try options.positive(.parallel, Int.self)
        guard parallel.map({ $0 <= 256 }) ?? true else { throw OptionError(description: "'parallel' must be 1 to 256") }
        let order = try options.word(.order, [("priority", SendOrder.priority), ("strict", .strict), ("live", .live)])
        let timeout = try options.seconds(.timeout)
        let (authority, certificate, key) = (try options.text(.ca), try options.text(.cert), try options.text(.key))
        guard (certificate == nil) == (key == nil) else { throw OptionError(description: "'cert' and 'key' belong together") }
        let keepsSent = try options.flag(.keepSent)
        changes = { upload in
            upload.transport.proxies = proxies
            (upload.headers, upload.secretFiles) = (headers, secretFiles)
            upload.body = body ?? upload.body
            upload.parallel = parallel ?? upload.parallel
            upload.order = order ?? upload.order
            upload.transport.idleTimeout = timeout ?? upload.transport.idleTimeout
            (upload.transport.certificateAuthority, upload.transport.certificate, upload.transport.privateKey) =
                (authority, certificate, key)
            guard let keepsSent else { return }
            (upload.keepsSent, upload.sentRetention, upload.sentGivesWay) = (keepsSent, RetentionLimits(), false)
        }
    }

    private static func headers(_ texts: [String: String]) throws -> [UploadOptions.Header] {
        try texts.sorted { $0.key < $1.key }.map { name, value in
            do throws(HeaderError) {
                var header = try HeaderText.parse("\(name): \(value)", from: "'headers'", quotes: false)
                // A program's options are seen by no other user.
                header.isSecret = HeaderText.secretNames.contains(name.lowercased())
                return header
            } catch {
                throw OptionError(description: error.description)
            }
        }
    }

    private static func body(_ options: OptionReader<Key>) throws -> BodyFormat? {
        let trackingID = try options.text(.trackingId)
        let form = try options.word(
            .body,
            [
                ("ndjson", Form.ndjson), ("json-array", .jsonArray), ("sensors", .sensors), ("appcenter", .appCenter),
                ("measurement", .measurement), ("otlp", .otlp), ("elastic", .elastic), ("loki", .loki), ("splunk", .splunk),
            ])
        switch form {
        case nil: return nil
        case .ndjson: return .ndjson
        case .jsonArray: return .jsonArray
        case .sensors: return .sensors
        case .appCenter: return .appCenter
        case .otlp: return .otlp
        case .elastic: return .elastic
        case .loki: return .loki
        case .splunk: return .splunk
        case .measurement:
            guard let trackingID else {
                throw OptionError(description: "'body' measurement needs 'trackingId', the property's ID")
            }
            return .measurement(trackingID: trackingID)
        }
    }
}
