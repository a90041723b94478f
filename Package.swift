// swift-tools-version:6.2
import PackageDescription

/// Whether the fuzz programs are built, and everything else with their instrumentation; see `Fuzzing/README.md`.
let isFuzzing = Context.environment["ALDABA_FUZZ"] != nil

/// Settings of every target of ours: Swift 6 mode (from the tools version), warnings as errors.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .treatAllWarnings(as: .error),
    ] + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : [])

/// A room of the house: a target in its floor's folder, which opens with a page of its own.
func room(_ floor: String, _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)", exclude: exclude + ["README.md"],
        swiftSettings: strict)
}

/// The tests of one room; they mirror its path.
func tests(_ floor: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["AldabaTestSupport"], path: "Tests/\(floor)/\(name)Tests",
        swiftSettings: strict)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let system: [Target] = [
    .systemLibrary(
        name: "CNghttp2", path: "Sources/System/CNghttp2", pkgConfig: "libnghttp2",
        providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(
        name: "CDBus", path: "Sources/System/CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(
        name: "CXCB", path: "Sources/System/CXCB", pkgConfig: "xcb", providers: [.apt(["libxcb1-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
    room("System", "Machine", ["CLinux"]),
]

let house: [Target] = [
    room("Model", "PushModel"),

    room("Wire", "HTTPWire"),
    room("Wire", "APNsWire", ["PushModel", "HTTPWire", crypto, cryptoExtras]),
    room("Wire", "MCSWire", ["PushModel", protobuf], exclude: ["Protobuf"]),
    room("Wire", "AgentWire"),

    room("Engine", "Mailbox", ["PushModel"]),
    room("Engine", "DeviceSession", ["PushModel", "MCSWire"]),
    room("Engine", "LocalSchedule", ["AgentWire"]),

    room("Transport", "Observability", [logging, metrics, coreMetrics]),
    room("Transport", "ConnectionAdmission", ["Observability", nioCore, logging, metrics]),
    room(
        "Transport", "HTTP2Transport",
        ["CNghttp2", "HTTPWire", "ConnectionAdmission", nioCore, nioPosix, nioSSL, nioTLS, logging]),
    room(
        "Transport", "MCSTransport",
        ["Machine", "PushModel", "MCSWire", "DeviceSession", nioCore, nioPosix, nioSSL, logging]),

    room(
        "Server", "ServerCore",
        ["PushModel", "APNsWire", "Mailbox", "Observability", crypto, nioCore, logging, metrics]),
    room(
        "Server", "StoreSQLite",
        ["CLinux", "PushModel", "APNsWire", "Mailbox", "ServerCore", grdb, grdbSQLite, logging]),
    room("Server", "StoreMemory", ["PushModel", "APNsWire", "Mailbox", "ServerCore"]),
    room(
        "Server", "ProviderEndpoint",
        [
            "PushModel", "HTTPWire", "APNsWire", "HTTP2Transport", "Observability", "ServerCore",
            nioCore, nioPosix, nioSSL, logging, metrics,
        ]),
    room(
        "Server", "DeviceEndpoint",
        [
            "PushModel", "MCSWire", "DeviceSession", "ConnectionAdmission", "MCSTransport", "Observability",
            "ServerCore", nioCore, nioPosix, nioSSL, logging, metrics,
        ]),
    room(
        "Server", "ControlAPI",
        [
            "ConnectionAdmission", "PushModel", "MCSWire", "Observability", "ServerCore", hummingbird,
            nioCore, nioSSL, logging,
            metrics,
        ]),

    room("Device", "AppHost", ["AgentWire", "CLinux", "Machine"]),
    room("Device", "LocalZones", ["LocalSchedule"]),
    room("Device", "UserNotifications", ["AppHost", "AgentWire", "LocalSchedule", "LocalZones", "CoreLocation"]),
    room("Device", "CoreLocation"),
    room("Device", "MobileCoreServices"),
    room("Device", "UIKit", ["AgentWire", "AppHost", "UserNotifications"]),
    room("Device", "UserNotificationsUI", ["UserNotifications", "UIKit"]),
    room("Device", "_Testing_UIKit"),
    room("Device", "DeviceModel", ["Machine", "PushModel", "AgentWire", "LocalSchedule"]),
    room("Device", "DevicePorts", ["PushModel", "LocalSchedule", "DeviceModel"]),
    room(
        "Device", "DeviceStore", ["CLinux", "Machine", "PushModel", "AgentWire", "LocalSchedule", "DeviceModel", grdb]),
    room("Device", "DevicePrograms", ["Machine", "PushModel", "Observability", "DeviceModel", "DevicePorts", logging]),
    room("Device", "Attachments", ["Machine", "PushModel", "AgentWire", "DeviceModel", "DevicePorts"]),
    room(
        "Device", "AppConnections",
        ["CLinux", "Machine", "AgentWire", "DeviceModel", nioCore, nioPosix]),
    room(
        "Device", "InstalledApps",
        ["Machine", "PushModel", "AgentWire", "DeviceModel", "AppConnections"]),
    room(
        "Device", "DeviceLink",
        [
            "CLinux", "Machine", "PushModel", "MCSWire", "DeviceSession", "MCSTransport", "Observability",
            "DeviceModel",
            nioCore, nioPosix, nioSSL, asyncHTTPClient, logging,
        ]),
    room(
        "Device", "RequestScheduling",
        ["AgentWire", "LocalSchedule", "LocalZones", "DeviceModel", "DevicePorts"]),
    room(
        "Device", "AgentCore",
        [
            "Machine", "PushModel", "AgentWire", "LocalSchedule", "LocalZones", "Observability",

            "DeviceModel", "DevicePorts", "DeviceStore", "DevicePrograms", "Attachments", "AppConnections",
            "InstalledApps", "DeviceLink", "RequestScheduling", nioCore, nioPosix, logging,
        ]),
    room("Device", "MessageBus", ["CDBus", "Machine"]),
    room(
        "Device", "SystemClock",
        ["CLinux", "Machine", "DevicePorts", "LocalSchedule", "MessageBus", "Observability", logging]),
    room("Device", "Positions", ["CLinux", "Machine", "DevicePorts", "MessageBus"]),
    room(
        "Device", "Desktop",
        ["Machine", "DeviceModel", "DevicePorts", "PushModel", "MessageBus", "Observability", logging]),
    room("Device", "WindowFocus", ["CXCB", "Machine", "DevicePorts"]),
]

let commands: [Target] = [
    room(
        "Command", "CommandCore",
        [
            "Machine", "PushModel", "AgentWire", "LocalSchedule", "LocalZones", "ConnectionAdmission", crypto, x509,
            asn1, yams, logging,
        ]),
    .executableTarget(
        name: "aldaba",
        dependencies: [
            "PushModel", "HTTPWire", "APNsWire", "MCSWire", "ConnectionAdmission", "HTTP2Transport", "MCSTransport",
            "DeviceSession", "Observability", "ServerCore", "StoreSQLite", "ProviderEndpoint", "DeviceEndpoint",
            "ControlAPI",
            "Mailbox", "AgentCore", "DeviceModel", "DevicePorts", "DeviceStore", "DevicePrograms", "InstalledApps",
            "AgentWire",
            "LocalSchedule",
            "LocalZones", "AppHost", "Desktop",
            "WindowFocus", "SystemClock",
            "MessageBus", "Positions",
            "TodoList",
            "CommandCore", "Machine", crypto, x509, nioCore, nioPosix, nioSSL, lifecycle, asyncHTTPClient,
            argumentParser, yams, logging,
        ],
        path: "Sources/Command/aldaba", exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
        name: "TodoList", dependencies: ["UserNotifications", "UIKit"], path: "Examples/TodoList",
        swiftSettings: strict),
]

let benchmarks: [Target] = [
    .executableTarget(
        name: "StoreRate", dependencies: ["PushModel", "ServerCore", "StoreSQLite"], path: "Benchmarks/StoreRate",
        swiftSettings: strict),
    .executableTarget(
        name: "ScheduleRate", dependencies: ["LocalSchedule", "LocalZones", "UserNotifications"],
        path: "Benchmarks/ScheduleRate",
        swiftSettings: strict),
    .executableTarget(
        name: "CenterRate", dependencies: ["AgentWire", "AppHost"], path: "Benchmarks/CenterRate",
        swiftSettings: strict),
]

/// A fuzz program: one file that hands libFuzzer its test.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + ["FuzzDriver"], path: "Fuzzing/\(name)", swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
}

let fuzzers: [Target] =
    isFuzzing
    ? [
        .target(name: "FuzzDriver", path: "Fuzzing/FuzzDriver", swiftSettings: strict),
        fuzzer("PayloadFuzz", ["APNsWire"]),
        fuzzer("HeaderFuzz", ["APNsWire", "HTTPWire"]),
        fuzzer("ProviderTokenFuzz", ["APNsWire", "PushModel", crypto]),
        fuzzer("MCSFuzz", ["MCSWire", "PushModel"]),
        fuzzer("AgentWireFuzz", ["AgentWire"]),
        fuzzer("ContentFuzz", ["AgentWire"]),
        fuzzer("ZoneFuzz", ["LocalSchedule"]),
        fuzzer("PatternFuzz", ["AgentWire", "LocalSchedule"]),
        fuzzer("PositionFuzz", ["DevicePorts", "Positions"]),
    ] : []

let support: [Target] = [
    .target(
        name: "AldabaTestSupport", dependencies: ["PushModel"], path: "Tests/AldabaTestSupport", swiftSettings: strict),
    .target(
        name: "StoreContract", dependencies: ["AldabaTestSupport", "ServerCore", "Mailbox", "PushModel"],
        path: "Tests/StoreContract", swiftSettings: strict),
    .target(
        name: "DeviceTestSupport",
        dependencies: ["AldabaTestSupport", "DeviceLink", "DeviceModel", "Machine", "PushModel"],
        path: "Tests/DeviceTestSupport", swiftSettings: strict),
    .target(
        name: "StatementLog", dependencies: [grdb, grdbSQLite], path: "Tests/StatementLog", swiftSettings: strict),
]

let testTargets: [Target] = [
    tests("System", "Machine", ["Machine"]),
    tests("Model", "PushModel", ["PushModel"]),
    tests("Wire", "APNsWire", ["APNsWire", "HTTPWire", "PushModel", crypto]),
    tests("Wire", "MCSWire", ["MCSWire", "PushModel", protobuf]),
    tests("Wire", "AgentWire", ["AgentWire"]),
    tests("Engine", "Mailbox", ["Mailbox", "PushModel"]),
    tests("Engine", "DeviceSession", ["DeviceSession", "MCSWire", "PushModel"]),
    tests("Engine", "LocalSchedule", ["LocalSchedule", "AgentWire"]),
    tests(
        "Transport", "ConnectionAdmission", ["ConnectionAdmission", nioCore, nioPosix, nioEmbedded, logging]),
    tests(
        "Transport", "HTTP2Transport",
        ["ConnectionAdmission", logging, "HTTP2Transport", "HTTPWire", nioCore, nioPosix, nioEmbedded]),
    tests(
        "Transport", "MCSTransport",
        ["MCSTransport", "DeviceSession", "MCSWire", "PushModel", x509, crypto, nioCore, nioPosix, nioSSL, nioEmbedded]),
    tests(
        "Server", "ServerCore",
        [
            "ServerCore", "StoreMemory", "StoreContract", "APNsWire", "Mailbox", "PushModel", crypto, nioCore, nioPosix,
            logging,
        ]),
    tests(
        "Server", "ProviderEndpoint",
        [
            "ProviderEndpoint", "HTTP2Transport", "ServerCore", "StoreMemory", "StoreContract", "APNsWire", "HTTPWire",
            "Mailbox", "PushModel", crypto, nioCore, nioPosix, logging,
        ]),
    tests("Server", "StoreMemory", ["StoreMemory", "StoreContract"]),
    tests("Server", "StoreSQLite", ["StoreSQLite", "StoreContract", "StatementLog", "ServerCore", "PushModel", grdb]),
    tests(
        "Server", "DeviceEndpoint",
        [
            "ConnectionAdmission", "DeviceEndpoint", "DeviceSession", "MCSTransport", "MCSWire", "ServerCore",
            "PushModel",
            x509, crypto,
            nioCore, nioPosix, nioSSL, logging,
        ]),
    tests("Device", "AppHost", ["AppHost", "AgentWire", "CLinux"]),
    tests("Device", "LocalZones", ["LocalZones", "LocalSchedule"]),
    tests("Device", "UserNotifications", ["UserNotifications", "CoreLocation", "AppHost", "AgentWire"]),
    tests("Device", "CoreLocation", ["CoreLocation"]),
    tests("Device", "MobileCoreServices", ["MobileCoreServices", "UserNotifications"]),
    tests("Device", "UIKit", ["UIKit", "_Testing_UIKit", "UserNotifications", "AppHost", "AgentWire"]),
    tests("Device", "UserNotificationsUI", ["UserNotificationsUI", "UIKit", "_Testing_UIKit", "UserNotifications"]),
    tests("Device", "DeviceModel", ["DeviceTestSupport", "DeviceModel", "AgentWire", "PushModel"]),
    tests(
        "Device", "DevicePrograms", ["DeviceTestSupport", "DevicePrograms", "DeviceModel", "DevicePorts", "PushModel"]),
    tests("Device", "Attachments", ["DeviceTestSupport", "Attachments", "AgentWire"]),
    tests(
        "Device", "AppConnections",
        ["DeviceTestSupport", "AppConnections", "DeviceModel", "AgentWire", nioCore, nioPosix, nioEmbedded]),
    tests(
        "Device", "InstalledApps",
        [
            "DeviceTestSupport", "InstalledApps", "AppConnections", "DeviceModel", "AgentWire", "PushModel",
            nioEmbedded,
        ]),
    tests(
        "Device", "DeviceLink",
        [
            "DeviceTestSupport", "DeviceLink", "DeviceModel", "Machine", "MCSWire", "PushModel", nioCore, nioPosix,
            logging,
        ]),
    tests(
        "Device", "AgentCore",
        [
            "DeviceTestSupport", "AgentCore", "DeviceModel", "DevicePorts", "DeviceStore", "DevicePrograms",
            "Attachments", "AppConnections", "InstalledApps", "DeviceLink", "AgentWire", "Machine", "PushModel",
            "DeviceSession", "LocalSchedule", "LocalZones", "StatementLog", grdb, nioCore, nioPosix, nioEmbedded,
            logging,
        ]),
    tests(
        "Device", "RequestScheduling",
        ["RequestScheduling", "AgentWire", "LocalSchedule", "LocalZones", "DeviceModel", "DevicePorts"]),
    tests("Device", "MessageBus", ["MessageBus", "Machine"]),
    tests(
        "Device", "SystemClock",
        ["SystemClock", "DevicePorts", "CLinux", "Machine", "LocalSchedule", "MessageBus", logging]),
    tests("Device", "Positions", ["Positions", "DevicePorts", "Machine"]),
    tests("Device", "Desktop", ["Desktop", "DeviceModel", "DevicePorts", "PushModel", logging]),
    tests("Device", "WindowFocus", ["WindowFocus", "DevicePorts", "CXCB"]),
    tests("Transport", "Observability", ["Observability", coreMetrics, logging]),
    tests(
        "Server", "ControlAPI",
        [
            "ControlAPI", "ServerCore", "PushModel", "MCSWire", "Observability", asyncHTTPClient, hummingbird, protobuf,
            nioCore, nioPosix,
        ]),
    tests("Command", "CommandCore", ["CommandCore", "AgentWire", "PushModel", crypto, x509]),
]

let package = Package(
    name: "aldaba",
    products: [
        .executable(name: "aldaba", targets: ["aldaba"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/apple/swift-asn1", .upToNextMinor(from: "1.7.0")),
        .package(url: "https://github.com/apple/swift-certificates", .upToNextMinor(from: "1.21.1")),
        .package(url: "https://github.com/apple/swift-crypto", .upToNextMinor(from: "4.5.2")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.6")),
        .package(url: "https://github.com/apple/swift-protobuf", .upToNextMinor(from: "1.39.0")),
        .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.1"),
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
    ],
    targets: system + house + commands + benchmarks + fuzzers + support + testTargets,
    swiftLanguageModes: [.v6]
)

// What apps import carries Apple's module names, which exist only where Apple's own do not.
#if os(Linux)
    /// Those with views, whose tests the toolchain has import `_Testing_UIKit` as well.
    let withViews = ["UIKit", "UserNotificationsUI"]
    package.products += withViews.map { .library(name: $0, targets: [$0, "_Testing_UIKit"]) }
    package.products += ["UserNotifications", "CoreLocation", "MobileCoreServices", "AppHost", "AgentWire"].map {
        .library(name: $0, targets: [$0])
    }
#endif
