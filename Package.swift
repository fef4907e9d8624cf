// swift-tools-version: 6.2
import Glibc
import PackageDescription

// Each dependency earns its build time:
let dependencies: [Package.Dependency] = [
    // Commands, options, help and usage errors.
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    // The transport: event loop, sendfile, HTTP/1.1 parsing.
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    // TLS and mTLS for the transport.
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    // The parts of requests and answers on the receiver's connections; Hummingbird brings it anyway.
    .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
    // Logs on stderr, replaceable by whoever links the libraries.
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    // SHA-256 of contents and received bodies; signatures (Ed25519) and encryption (HPKE) of bundles; the signatures of requests to object stores, as no SDK
    // of AWS's resolves everywhere that Ferry is built.
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    // The receiver's graceful end on SIGTERM; Hummingbird brings it anyway.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    // The names of header fields, in Hummingbird's interface.
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    // The receiver's HTTP server; without its configuration and full Foundation parts.
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
]

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Of the release binary nothing is exported: what is, cannot be left out where nothing calls it, and has its name in the binary. Together with
/// packed addresses, which glibc reads from 2.36 on, that makes 6 MB of 41. Functions whose instructions are the same are one: nothing compares their
/// addresses.
let programFlags: [String] = {
    var text = [CChar](repeating: 0, count: 64)
    confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
    // Like "glibc 2.36".
    let name = String(decoding: text.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let version = name.split { !$0.isNumber }.compactMap { Int($0) }
    let packs = version.count > 1 && (version[0], version[1]) >= (2, 36)
    return ["-Xlinker", "--no-export-dynamic"]
        + (packs
            ? [
                "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--icf=all", "-Xlinker", "-O2",
                "-Xlinker", "-z", "-Xlinker", "noseparate-code",
            ] : [])
}()

/// What tests need.
enum TestKind: String {
    /// Neither files nor sockets nor clocks: milliseconds.
    case decisions = "Decisions"
    /// Temporary folders.
    case folders = "Folders"
    /// Temporary folders and loopback sockets.
    case foldersAndSockets = "FoldersAndSockets"
    /// The built binary and other software, with kills and faults.
    case programs = "Programs"

    var target: String {
        switch self {
        case .decisions: "DecisionTests"
        case .folders: "FolderTests"
        case .foldersAndSockets: "FolderAndSocketTests"
        case .programs: "ProgramTests"
        }
    }
}

/// The tests of a module that need the same: FerrySpoolDecisionTests in Tests/FerrySpool/Decisions.
func tests(of module: String, _ kind: TestKind, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: module + kind.target, dependencies: dependencies + ["TestSupport"], path: "Tests/\(module)/\(kind.rawValue)",
        swiftSettings: swiftSettings)
}

/// Where bytes come in.
let doors: [Target.Dependency] = [
    "FerrySpool", "FerryUpload", "FerryReceiver", "FerryIntake", "FerryTransfer", "FerryReplay", "FerryTracker", "ferry",
    .product(name: "HTTPTypes", package: "swift-http-types"),
]

let package = Package(
    name: "ferry",
    products: [
        .executable(name: "ferry", targets: ["ferry"]),
        .library(name: "FerrySpool", targets: ["FerrySpool"]),
        .library(name: "FerryUpload", targets: ["FerryUpload"]),
        .library(name: "FerryTracker", targets: ["FerryTracker"]),
        // libferrytracker.so, for C and what can call it.
        .library(name: "ferrytracker", type: .dynamic, targets: ["FerryC"]),
        .library(name: "FerryTrackerUpload", targets: ["FerryTrackerUpload"]),
        .library(name: "FerryReceiver", targets: ["FerryReceiver"]),
        .library(name: "FerryTransfer", targets: ["FerryTransfer"]),
        .library(name: "FerryReplay", targets: ["FerryReplay"]),
    ],
    traits: [
        .trait(
            name: "Libdeflate",
            description:
                "Compress and inflate whole gzip members with libdeflate, several times as fast as with zlib (libdeflate-dev)."),
        .default(enabledTraits: ["Libdeflate"]),
    ],
    dependencies: dependencies,
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["libz-dev"])]),
        .systemLibrary(name: "CLibdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CLinux"),
        // What forks must not share.
        .target(name: "CForks"),
        // The kernel's times.
        .target(name: "CClock"),
        // The fast check of JSON lines, with the processor's wide registers.
        .target(name: "CJSONLines"),
        .target(
            name: "FerrySpool",
            dependencies: [
                "CZlib", "CLinux", "CForks", "CClock", "CJSONLines",
                .target(name: "CLibdeflate", condition: .when(traits: ["Libdeflate"])),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: swiftSettings,
            // The archive, so that no machine that Ferry runs on needs it.
            linkerSettings: [.linkedLibrary(":libdeflate.a", .when(traits: ["Libdeflate"]))]),
        .target(
            name: "FerryUpload",
            dependencies: [
                "FerrySpool", "CLinux", "CForks",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: swiftSettings
        ),
        // What runs in signal handlers.
        .target(name: "CTracker", dependencies: ["CForks"]),
        .target(name: "FerryTracker", dependencies: ["FerrySpool", "CForks", "CTracker"], swiftSettings: swiftSettings),
        // Delivery from within the tracker's process, for whoever wants it.
        .target(
            name: "FerryTrackerUpload", dependencies: ["FerryTracker", "FerryUpload", "FerrySpool"], swiftSettings: swiftSettings),
        // The C interface: its header, and what implements it.
        .target(name: "CFerry"),
        .target(
            name: "FerryC",
            dependencies: ["FerryTracker", "FerryTrackerUpload", "FerryUpload", "FerrySpool", "CFerry", "CForks"],
            swiftSettings: swiftSettings),
        .target(
            name: "FerryIntake",
            dependencies: ["FerrySpool", "CZlib", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FerryTransfer",
            dependencies: ["FerrySpool", "FerryIntake", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FerryReplay",
            dependencies: ["FerrySpool", "FerryIntake", "FerryUpload"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FerryReceiver",
            dependencies: [
                // The client of object stores, for receivers that store into one.
                "FerryUpload", "FerrySpool", "FerryIntake",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "ferry",
            dependencies: [
                "FerrySpool", "FerryUpload", "FerryReceiver", "FerryTransfer", "FerryReplay", "CYAML",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            // Nothing of the commands is hot: small is better there.
            swiftSettings: swiftSettings + [.unsafeFlags(["-Osize"], .when(configuration: .release))],
            // The archive, as with libdeflate.
            linkerSettings: [.linkedLibrary(":libyaml.a"), .unsafeFlags(programFlags, .when(configuration: .release))]
        ),
        // Temporary folders, scripted servers, child processes: for all kinds of tests.
        .target(
            name: "TestSupport",
            dependencies: ["FerrySpool", "CZlib"],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings
        ),
        // Receivers, uploaders and trackers that run on temporary folders: for tests that are no pure decisions.
        .target(
            name: "ServiceSupport",
            dependencies: [
                "FerryReceiver", "FerryUpload", "FerryTracker", "FerrySpool", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/ServiceSupport",
            swiftSettings: swiftSettings
        ),
        // A program that tracks, for the tests of whole programs.
        .executableTarget(
            name: "tracker-host", dependencies: ["FerryTracker", "FerryTrackerUpload"], path: "Tests/TrackerHost",
            swiftSettings: swiftSettings),
        // What scripts/sanitize runs: without an uploader, which would be most of its build.
        .executableTarget(
            name: "tracker-stress", dependencies: ["FerryTracker", "FerrySpool"], path: "Tests/TrackerStress",
            swiftSettings: swiftSettings),
        // Programs to begin with, built as a user's own program is: with what is public only. The others in Examples are no Swift.
        .executableTarget(
            name: "example-producer", dependencies: ["FerrySpool"], path: "Examples/Swift/Producer", packageAccess: false),
        .executableTarget(
            name: "example-tracker", dependencies: ["FerryTracker", "FerryTrackerUpload", "FerryUpload"],
            path: "Examples/Swift/Tracker", packageAccess: false),
        tests(of: "FerrySpool", .decisions, ["FerrySpool"]),
        tests(of: "FerrySpool", .folders, ["FerrySpool"]),
        tests(of: "FerryUpload", .decisions, ["FerryUpload", "FerrySpool"]),
        tests(
            of: "FerryUpload", .foldersAndSockets,
            [
                "FerryUpload", "FerryReceiver", "FerrySpool", "CForks", "ServiceSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        tests(of: "FerryTracker", .decisions, ["FerryTracker", "FerrySpool"]),
        tests(of: "FerryTracker", .folders, ["FerryTracker", "FerrySpool", "ServiceSupport"]),
        tests(
            of: "FerryTrackerUpload", .foldersAndSockets,
            ["FerryTrackerUpload", "FerryTracker", "FerryUpload", "FerrySpool", "ServiceSupport"]),
        tests(of: "FerryIntake", .decisions, ["FerryIntake", "FerrySpool"]),
        tests(of: "FerryIntake", .folders, ["FerryIntake", "FerrySpool"]),
        tests(of: "FerryTransfer", .foldersAndSockets, ["FerryTransfer", "FerryUpload", "FerrySpool"]),
        tests(of: "FerryReplay", .decisions, ["FerryReplay", "FerrySpool"]),
        tests(of: "FerryReplay", .foldersAndSockets, ["FerryReplay", "FerryUpload", "FerrySpool"]),
        tests(
            of: "FerryReceiver", .decisions,
            [
                "FerryReceiver", "FerryIntake", "FerrySpool", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ]),
        tests(
            of: "FerryReceiver", .foldersAndSockets,
            ["FerryReceiver", "FerryIntake", "FerryTransfer", "FerryUpload", "FerrySpool", "ServiceSupport"]),
        tests(
            of: "ferry", .folders,
            [
                "ferry", "FerryReceiver", "FerrySpool", "FerryUpload",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        tests(
            of: "ferry", .programs,
            ["ferry", "tracker-host", "example-producer", "example-tracker", "FerryC", "FerrySpool", "FerryTrackerUpload"]),
        // What scripts/fuzz feeds with random bytes, here with the inputs that are kept.
        .testTarget(
            name: "FuzzTests", dependencies: doors, path: "Tests/Fuzz", exclude: ["Corpora", "Fuzzer.swift", "fuzz.py"],
            swiftSettings: swiftSettings
        ),
    ]
)

if Context.environment["FERRY_FUZZ"] != nil {
    // For scripts/fuzz: Ferry's own modules count what an input reaches and watch over memory, and instead of the tests there is a program that
    // feeds them. The program ferry is a library then. File by file, as usually: of whole modules the next usual build would not know that they
    // were built with other flags.
    let fuzzed: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-O"])]
    package.products = []
    let program = package.targets.first { $0.name == "ferry" }
    package.targets.removeAll { $0.type == .test || $0.type == .executable }
    for target in package.targets where target.swiftSettings != nil { target.swiftSettings = swiftSettings + fuzzed }
    package.targets += [
        .target(
            name: "ferry", dependencies: program?.dependencies ?? [], exclude: ["Main.swift"],
            swiftSettings: swiftSettings + fuzzed, linkerSettings: [.linkedLibrary(":libyaml.a")]),
        .executableTarget(
            name: "fuzz",
            dependencies: doors, path: "Tests/Fuzz", exclude: ["Corpora", "CorpusTests.swift", "fuzz.py"],
            swiftSettings: swiftSettings + fuzzed,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ]
}
