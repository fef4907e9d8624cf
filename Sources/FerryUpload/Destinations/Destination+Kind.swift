extension Destination {
    /// Returns how its requests of a form look, and what its answers mean. Nothing is asked of it where there is a ``direct`` one.
    func kind(_ body: BodyFormat) -> any DestinationKind {
        switch place {
        case .http, .file, .lanes: HTTPDestination(body: body)
        case .s3(let location, let keys): S3Destination(location, keys)
        case .clickHouse(let location, let credentials): ClickHouseDestination(location, credentials)
        }
    }

    /// What takes segments without requests; `nil`: requests carry them.
    var direct: (any DirectDestination)? {
        switch place {
        case .file(let location): FileDestination(location)
        case .lanes(let lanes): LanesDestination(lanes: lanes)
        case .http, .s3, .clickHouse: nil
        }
    }
}
