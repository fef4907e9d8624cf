import Testing

@testable import FerryUpload

@Suite("Objects that a store does not give") struct WithheldObjectsTests {
    private static let refused = ObjectStoreError(.denied, "no", mayBeOfObject: true)
    private static let failed = ObjectStoreError(.unavailable, "500", mayBeOfObject: true)

    @Test("Some in a row are theirs, many the store's") func rows() {
        var withheld = WithheldObjects()
        for _ in 0..<100 { #expect(withheld.judge(Self.refused).isOfObject) }
        #expect(withheld.judge(Self.refused).kind == .denied)
        withheld.gave()
        for _ in 0..<5 { #expect(withheld.judge(Self.failed).isOfObject) }
        #expect(withheld.judge(Self.failed).kind == .unavailable)
    }

    @Test("Where others were given, any number may be refused") func given() {
        var withheld = WithheldObjects()
        withheld.gave()
        #expect((0..<1000).allSatisfy { _ in withheld.judge(Self.refused).isOfObject })
    }

    @Test("What holds for all objects ends the reading at once") func all() {
        var withheld = WithheldObjects()
        #expect(withheld.judge(ObjectStoreError(.misconfigured, "SignatureDoesNotMatch")).kind == .misconfigured)
    }
}
