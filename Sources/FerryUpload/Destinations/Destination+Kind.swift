extension Destination {
    /// How its requests look, and what its answers mean.
    var kind: any DestinationKind {
        switch place {
        case .http: HTTPDestination()
        case .s3(let location, let credentials): S3Destination(location, credentials)
        case .lanes(let lanes): LanesDestination(lanes: lanes)
        case .clickHouse(let location, let credentials): ClickHouseDestination(location, credentials)
        }
    }

    /// What takes its segments as files; `nil`: they go there in requests.
    var depot: (any Depot)? { kind as? any Depot }
}
