extension Destination {
    /// How its requests look, and what its answers mean.
    var kind: any DestinationKind {
        switch place {
        case .http: HTTPDestination()
        case .s3(let location, let credentials): S3Destination(location, credentials)
        }
    }
}
