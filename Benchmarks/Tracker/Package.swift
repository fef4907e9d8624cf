// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who builds Ferry needs SQLite.
let package = Package(
    name: "tracker-bench",
    dependencies: [
        .package(name: "ferry", path: "../.."),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "tracker-bench",
            dependencies: [
                "CSQLite", .product(name: "FerryTracker", package: "ferry"), .product(name: "FerrySpool", package: "ferry"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/TrackerBench"
        ),
    ]
)
