// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "ferry",
    products: [
        .library(name: "FerrySpool", targets: ["FerrySpool"]),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["libz-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "FerrySpool", dependencies: ["CZlib", "CLinux"], swiftSettings: swiftSettings),
    ]
)
