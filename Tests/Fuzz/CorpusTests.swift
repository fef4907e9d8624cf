import Foundation
import Testing

/// The inputs that scripts/fuzz begins with, without the fuzzer: seeds, and what was found with them.
@Suite("Doors: the kept inputs")
struct CorpusTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpora")

    @Test("Each holds what must hold whatever comes", arguments: FuzzTarget.all.map(\.name))
    func corpus(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let folder = Self.corpora.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty, "\(name) has no corpus")
        for file in files {
            do {
                try target.run(Array(Data(contentsOf: file)))
            } catch {
                Issue.record("\(file.path): \(error)")
            }
        }
    }

    @Test("Every corpus belongs to a target")
    func names() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(names.filter { !$0.hasSuffix(".dict") }) == Set(FuzzTarget.all.map(\.name)))
    }
}
