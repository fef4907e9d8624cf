extension Export {
    /// Returns the ID of a bundle that is named by it, or as its folder or file is called, wherever that lies.
    package static func bundle(named name: String) -> String {
        var id = name.split(separator: "/").last.map(String.init) ?? name
        if id.hasPrefix(BundleDestination.prefix) { id.removeFirst(BundleDestination.prefix.count) }
        if id.hasSuffix(".tar") { id.removeLast(4) }
        return id
    }
}
