extension Destination {
    /// How its requests look, and what its answers mean. Nothing is asked of it where there is a ``direct`` one.
    var kind: any DestinationKind {
        switch place {
        case .http, .file: HTTPDestination()
        case .s3(let location, let credentials): S3Destination(location, credentials)
        case .lanes(let lanes): LanesDestination(lanes: lanes)
        case .clickHouse(let location, let credentials): ClickHouseDestination(location, credentials)
        }
    }

    /// What takes its segments as files; `nil`: they go there in requests.
    var depot: (any Depot)? { kind as? any Depot }

    /// What takes segments without requests; `nil`: requests carry them.
    var direct: (any DirectDestination)? {
        guard case .file(let location) = place else { return nil }
        return FileDestination(location)
    }
}
