package import FerrySpool

extension Lanes {
    /// Puts a claimed segment into one lane, under the name that it has in all of them.
    package func place(_ claim: Claim, into lane: LaneName) throws -> LanePut {
        switch try stage(claim, as: name(of: claim), in: lane) {
        case .ready(let entry): try put(entry, into: lane)
        case .wasThere: .wasThere
        case .nameTaken: .nameTaken
        }
    }
}
