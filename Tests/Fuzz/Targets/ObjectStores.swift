import FerrySpool
import NIOHTTP1

@testable import FerryUpload

extension FuzzTarget {
    /// Buckets' URLs, and credentials: the first line stands behind `s3://`, the rest is a credentials file.
    static let buckets = FuzzTarget("buckets", longest: 600) { bytes in
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        if let location = try? S3Location("s3://\(parts[0])", environment: [:]) {
            try expect(location.url.namesSegment, "each segment has a name of its own")
            let target = location.url.target { _ in "a b\r\n{id}%\u{e9}" }
            try expect(target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a target is visible ASCII")
            for field in location.storage {
                try expect(field.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "a field is one line")
            }
            let again = try S3Location(location.description, environment: [:])
            try expect(again.bucket == location.bucket, "what the ledger shows names the bucket")
        }
        let file = parts.count > 1 ? String(parts[1]) : ""
        guard let credentials = try? S3Credentials(profile: "default", in: file, of: "file") else { return }
        try expect(credentials.areVisible, "keys can stand in a field")
    }

    /// What a store answers: three digits for the status, a line for its fields by commas, then the body.
    static let storeAnswers = FuzzTarget("store-answers", longest: 600) { bytes in
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard let status = Int(parts[0]), (200...999).contains(status) else { return }
        var headers = HTTPHeaders()
        let names = ["etag", "content-length", S3Answer.digestField, "date", "x-amz-bucket-region"]
        for (name, value) in zip(names, parts.count > 1 ? parts[1].split(separator: ",") : []) {
            headers.add(name: name, value: String(value))
        }
        let answer = Answer(
            status: status, headers: headers, body: parts.count > 2 ? Array(parts[2].utf8) : [], isToWholeRequest: true)
        let body = S3Answer.Body(size: ByteCount(100), digest: nil, md5: nil)
        for step in [DeliveryStep(method: "PUT"), DeliveryStep(method: "HEAD", carriesBody: false, number: 1)] {
            let action = S3Answer(answer, at: Timestamp(milliseconds: 1_793_000_000_000)).action(after: step, body)
            guard case .verdict(.delivered) = action else { continue }
            try expect(step.carriesBody && (200..<300).contains(status), "nothing known of the bytes is no delivery")
            try expect(headers.contains(name: "etag"), "only a store's answer is a delivery")
        }
    }

    /// Pages of a bucket's list.
    static let storeLists = FuzzTarget("store-lists", longest: 800) { bytes in
        guard let listing = ObjectListing(bytes) else { return }
        for object in listing.objects {
            try expect((1...1024).contains(object.name.utf8.count) && object.size >= .zero, "an object can be one")
            try expect(object.etag.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a mark can stand in a field")
        }
        try expect(listing.next != "", "the next page can be asked for")
        try expect(listing.flawed >= 0 && listing.objects.count <= bytes.count / 20, "an entry comes of its bytes")
    }

    /// What an instance's metadata answer, apart by zero bytes: a token, a role, keys.
    static let keyAnswers = FuzzTarget("key-answers", longest: 600) { bytes in
        guard let service = try? KeyService(environment: [:]) else { return }
        var dialogue = KeyDialogue(service)
        for body in bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false) {
            let keys: TemporaryKeys?
            do throws(KeyServiceError) {
                keys = try dialogue.take(Answer(status: 200, headers: [:], body: Array(body)))
            } catch {
                return
            }
            let question = dialogue.question
            try expect(question.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a target is visible ASCII")
            try expect(question.target.hasPrefix("/latest/meta-data/iam/security-credentials/"), "only keys are asked for")
            try expect(!question.target.split(separator: "/").contains(".."), "a role leads nowhere else")
            let areFields = question.fields.values.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }
            try expect(areFields, "a token is one line")
            if let keys { try expect(keys.credentials.areVisible, "keys can stand in a field") }
        }
    }
}
