extension Destination {
    /// Returns how its requests of a form look, and what its answers mean. Nothing is asked of it where there is a ``direct`` one.
    func kind(_ body: BodyFormat) -> any DestinationKind {
        switch place {
        case .http, .file: HTTPDestination(body: body)
        case .s3(let location, let credentials): S3Destination(location, credentials)
        case .lanes(let lanes): LanesDestination(lanes: lanes)
        case .clickHouse(let location, let credentials): ClickHouseDestination(location, credentials)
        }
    }

    /// What takes its segments as files; `nil`: they go there in requests.
    var depot: (any Depot)? {
        guard case .lanes(let lanes) = place else { return nil }
        return LanesDestination(lanes: lanes)
    }

    /// What takes segments without requests; `nil`: requests carry them.
    var direct: (any DirectDestination)? {
        guard case .file(let location) = place else { return nil }
        return FileDestination(location)
    }
}
