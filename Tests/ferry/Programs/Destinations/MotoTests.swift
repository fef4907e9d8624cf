import FerrySpool
import Foundation
import TestSupport
import Testing

/// What Ceph's gateway lacks, or has only with more programs beside it.
@Suite("Into moto's S3") struct MotoTests {
    private let folder = TemporaryFolder()

    @Test(
        "With keys of moto's instance metadata a segment gets its class, encryption and tags, and comes back",
        .needs("python3"), .needsPython(Moto.module)) func stored() async throws
    {
        let moto = try await Moto(bucket: "logs")
        // No profile file; nothing but the instance has keys.
        let ferry = Program(environment: ["HOME": folder.path, "AWS_EC2_METADATA_SERVICE_ENDPOINT": moto.endpoint])
        let spool = try folder.spool()
        let (name, bytes) = (Segments.name(3), Segments.gzip(Segments.lines(0..<3)))
        try spool.put(bytes, as: name)
        let place = "s3://logs/edge?endpoint=\(moto.endpoint)"
        let url = "\(place)&class=STANDARD_IA&sse=aws:kms&kms-key=k1&tag=team:ocean%20deep&tag=a:b"
        let upload = try await ferry.run("upload", "--spool", spool.path, "--to", url)
        #expect(upload.status == 0, "\(upload.errors)")
        let object = "Bucket='logs', Key='edge/\(name.created.day)/\(name.fileName)'"
        let head = "(lambda h: (h['StorageClass'], h['ServerSideEncryption'], h['SSEKMSKeyId'], h['Metadata']['ferry-events']))"
        let tags = "sorted((t['Key'], t['Value']) for t in s3.get_object_tagging(\(object))['TagSet'])"
        let found = try await moto.ask("\(head)(s3.head_object(\(object))), \(tags)")
        #expect(found == "('STANDARD_IA', 'aws:kms', 'k1', '3') [('a', 'b'), ('team', 'ocean deep')]")
        // Once more, from a copy: the object is there, and is compared.
        let copy = try folder.spool("copy")
        try copy.put(bytes, as: name)
        let again = try await ferry.run("upload", "--json", "--spool", copy.path, "--to", url)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\"duplicates\":1"), "\(again.output)")
        let read = try await ferry.run("cat", "s3://logs/edge/\(name.created.day)/\(name.fileName)?endpoint=\(moto.endpoint)")
        #expect(read.status == 0, "\(read.errors)")
        #expect(read.output == Segments.lines(0..<3))
    }
}
