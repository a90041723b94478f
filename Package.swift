// swift-tools-version:6.2
import PackageDescription

/// Whether everything is built with libFuzzer's instrumentation; see `Fuzzing/README.md`.
let isFuzzing = Context.environment["ALDABA_FUZZ"] != nil
/// Settings of every target: Swift 6 mode (from the tools version), warnings as errors.
let strict: [SwiftSetting] =
    [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]
    + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : [])

/// The systems whose targets share a `README.md`.
let sharedPages: [String?] = ["Core", "APNs", "FCM", "WebPush", "AppSDK"]
/// A target in the folder of its system, `Sources/SYSTEM/NAME`; `Sources/NAME` where it is of none.
func part(
    _ name: String, in system: String? = nil, _ dependencies: Target.Dependency..., exclude: [String] = []
) -> Target {
    // In some systems only these targets have a `README.md` of their own.
    let hasPage = ["DeviceChannel", "Networking", "UIKit", "UserNotifications"].contains(name)
    return .target(
        name: name, dependencies: dependencies, path: "Sources/\(system.map { $0 + "/" } ?? "")\(name)",
        exclude: exclude + (hasPage || !sharedPages.contains(system) ? ["README.md"] : []), swiftSettings: strict)
}

/// The tests of a target, under the same path.
func tests(_ name: String, in system: String? = nil, _ dependencies: Target.Dependency...) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name), "AldabaTestSupport"] + dependencies,
        path: "Tests/\(system.map { $0 + "/" } ?? "")\(name)Tests", swiftSettings: strict)
}

/// What tests of several targets share.
func support(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
}

/// A program: that of the package, an example or a benchmark.
func program(
    _ name: String, in folder: String, _ dependencies: Target.Dependency..., exclude: [String] = [],
    settings: [SwiftSetting] = strict
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "\(folder)/\(name)", exclude: exclude, swiftSettings: settings)
}

/// A C library of the system, by the names that pkg-config and Debian have for it.
func systemLibrary(_ name: String, _ pkgConfig: String, _ debian: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// A product of another package. Only programs need any: a package that asks for no traits fetches none.
func foreign(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}
let (logging, hummingbird) = (foreign("Logging", "swift-log"), foreign("Hummingbird", "hummingbird"))
let (metrics, coreMetrics) = (foreign("Metrics", "swift-metrics"), foreign("CoreMetrics", "swift-metrics"))
let (nioCore, nioPosix) = (foreign("NIOCore", "swift-nio"), foreign("NIOPosix", "swift-nio"))
let (nioEmbedded, nioTLS) = (foreign("NIOEmbedded", "swift-nio"), foreign("NIOTLS", "swift-nio"))
let (nioSSL, nioHTTP2) = (foreign("NIOSSL", "swift-nio-ssl"), foreign("NIOHTTP2", "swift-nio-http2"))
let (crypto, cryptoExtras) = (foreign("Crypto", "swift-crypto"), foreign("CryptoExtras", "swift-crypto"))
let (asn1, x509) = (foreign("SwiftASN1", "swift-asn1"), foreign("X509", "swift-certificates"))
let (grdb, grdbSQLite) = (foreign("GRDB", "GRDB.swift"), foreign("GRDBSQLite", "GRDB.swift"))
let (protobuf, mustache) = (foreign("SwiftProtobuf", "swift-protobuf"), foreign("Mustache", "swift-mustache"))
let (hummingbirdHTTP2, nioHTTP1) = (foreign("HummingbirdHTTP2", "hummingbird"), foreign("NIOHTTP1", "swift-nio"))
let lifecycle = foreign("ServiceLifecycle", "swift-service-lifecycle")
let asyncHTTPClient = foreign("AsyncHTTPClient", "async-http-client")
let (argumentParser, yams) = (foreign("ArgumentParser", "swift-argument-parser"), foreign("Yams", "Yams"))

let system: [Target] = [
    systemLibrary("CNghttp2", "libnghttp2", "libnghttp2-dev"),
    systemLibrary("CDBus", "dbus-1", "libdbus-1-dev"),
    systemLibrary("CXCB", "xcb", "libxcb1-dev"),
    systemLibrary("CZlib", "zlib", "zlib1g-dev"),
    systemLibrary("CPNG", "libpng", "libpng-dev"),
    systemLibrary("CJPEG", "libjpeg", "libjpeg-dev"),
    systemLibrary("CPQ", "libpq", "libpq-dev"),
    .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
]

let core: [Target] = [
    part("PushCore", in: "Core", "CoreValues", crypto),
    part("Platform", in: "Core", "CLinux"),
    part(
        "Networking", in: "Core", "CNghttp2", "Platform", "PushCore", "CoreValues", logging, metrics, coreMetrics,
        nioCore, asyncHTTPClient, nioSSL, nioPosix, nioTLS, crypto, nioHTTP1),
    part(
        "DeviceChannel", in: "Core", "Networking", "Platform", "PushCore", protobuf, nioCore, nioPosix, nioSSL, logging,
        exclude: ["MCSWire/Protobuf"]),
    part("CoreValues", in: "Core"),
    part("Texts", in: "Core"),
]

let server: [Target] = [
    part(
        "PushServer", in: "Server", "APNsProtocol", "AgentProtocol", "CZlib", "DeviceChannel", "FCMProtocol",
        "Networking", "Platform", "PushCore", "WebPushProtocol", crypto, cryptoExtras, nioCore, logging, metrics,
        hummingbird, lifecycle, nioPosix, nioSSL, nioHTTP1, foreign("NIOWebSocket", "swift-nio")),
    part(
        "SQLiteStore", in: "Server", "APNsProtocol", "CLinux", "FCMProtocol", "PushCore", "PushServer",
        "WebPushProtocol", grdb, grdbSQLite, logging),
    part(
        "NATSCarrier", in: "Server", "Networking", "PushCore", "PushServer", crypto, nioCore, nioPosix, nioSSL, logging,
        metrics),
    part(
        "PostgresStore", in: "Server", "APNsProtocol", "CPQ", "FCMProtocol", "PushCore", "PushServer",
        "WebPushProtocol"),
    part(
        "ControlAPI", in: "Server", "APNsProtocol", "Console", "DeviceChannel", "FCMFrontend", "FCMProtocol",
        "Networking", "PushCore", "PushServer", "WebPushProtocol", hummingbird, hummingbirdHTTP2, nioHTTP2, nioCore,
        nioPosix, nioSSL, logging, lifecycle, protobuf),
    part("Console", in: "Server", "PushCore", "PushServer", "Texts", hummingbird, mustache, nioCore, logging),
]

let apns: [Target] = [
    part("APNsProtocol", in: "APNs", "PushCore", crypto, cryptoExtras, x509, asn1),
    part(
        "AldabaAPNs", in: "APNs", "APNsProtocol", "Networking", "Platform", "PushCore", crypto, coreMetrics, logging,
        nioCore, nioPosix, nioSSL),
    part(
        "APNsFrontend", in: "APNs", "APNsProtocol", "Networking", "PushCore", "PushServer", hummingbird, nioCore,
        nioPosix, nioSSL, logging, metrics, nioTLS),
]

let fcm: [Target] = [
    part("FCMProtocol", in: "FCM", "DeviceChannel", "PushCore", "WebPushProtocol", crypto, cryptoExtras),
    part(
        "FCMFrontend", in: "FCM", "APNsProtocol", "FCMProtocol", "Networking", "PushCore", "PushServer",
        "WebPushProtocol", hummingbird, nioCore, logging, metrics, foreign("NIOFoundationCompat", "swift-nio"), crypto),
    part("WebPushProtocol", in: "WebPush", "PushCore", crypto, cryptoExtras),
]

let notificationHub: [Target] = [
    part("HubProtocol", in: "NotificationHub", "APNsProtocol", "PushCore", "Scheduling", crypto),
    part(
        "HubServer", in: "NotificationHub", "APNsProtocol", "AldabaAPNs", "HubProtocol", "Networking", "PushCore",
        "PushServer", "SQLiteStore", "Scheduling", crypto, logging, grdb, hummingbird, lifecycle, nioCore, cryptoExtras,
        grdbSQLite, metrics),
]

let deviceRelay: [Target] = [
    part("RelayProtocol", in: "DeviceRelay", "CoreValues"),
    part(
        "RelayServer", in: "DeviceRelay", "HubProtocol", "HubServer", "Networking", "PushCore", "PushServer",
        "RelayProtocol", "SQLiteStore", crypto, logging, metrics, grdb, hummingbird),
    part(
        "RelayAgent", in: "DeviceRelay", "AgentEngine", "AgentProtocol", "LinuxDesktop", "Networking", "Platform",
        "PushCore", "RelayProtocol", "CoreValues", crypto, nioCore, nioPosix, logging),
]

let agent: [Target] = [
    part("AgentProtocol", in: "Agent"),
    part("CenterPages", in: "Agent", "AgentProtocol", "CoreValues", "Scheduling"),
    part("Scheduling", in: "Agent", "AgentProtocol", "CoreValues"),
    part(
        "AgentEngine", in: "Agent", "AgentProtocol", "CoreValues", "Platform", "PushCore", "Scheduling",
        "WebPushProtocol", logging),
    part(
        "AgentRuntime", in: "Agent", "AgentEngine", "AgentProtocol", "CLinux", "DeviceChannel", "LinuxDesktop",
        "Networking", "Platform", "PushCore", "RelayAgent", "Scheduling", "CoreValues", "WebPushProtocol", nioCore,
        nioPosix, logging, nioSSL, nioHTTP1, asyncHTTPClient, grdb),
    part(
        "LinuxDesktop", in: "Agent", "AgentEngine", "AgentProtocol", "CDBus", "CLinux", "CXCB", "Networking",
        "Platform", "PushCore", "Scheduling", "CoreValues", logging),
]

let appSDK: [Target] = [
    part("AppHost", in: "AppSDK", "AgentProtocol", "CLinux", "Platform"),
    part("UserNotifications", in: "AppSDK", "AgentProtocol", "AppHost", "CoreLocation", "Scheduling", "CoreValues"),
    part("AldabaRichPush", in: "AppSDK", "AgentProtocol", "AppHost", "UserNotifications"),
    part("UserNotificationsUI", in: "AppSDK", "UIKit", "UserNotifications"),
    part("UIKit", in: "AppSDK", "AgentProtocol", "AppHost", "CJPEG", "CPNG", "Platform", "UserNotifications"),
    part("FirebaseCore", in: "AppSDK", "AppHost"),
    part(
        "FirebaseMessaging", in: "AppSDK", "AgentProtocol", "AldabaRichPush", "AppHost", "FirebaseCore", "UIKit",
        "UserNotifications"),
    part("FirebaseInstanceID", in: "AppSDK", "FirebaseMessaging"),
    part("Firebase", in: "AppSDK", "FirebaseCore", "FirebaseInstanceID", "FirebaseMessaging"),
    part("AldabaFlutterPush", in: "AppSDK", "Flutter", "UIKit"),
    part("ConnectedDevices", in: "AppSDK", "AgentProtocol", "AppHost", "RelayProtocol"),
    part("Flutter", in: "AppSDK", "AppHost", "CLinux", "Platform", "UIKit"),
    part("FlutterMacOS", in: "AppSDK", "Flutter"),
    part("PushKit", in: "AppSDK", "AgentProtocol", "AppHost", "UserNotifications"),
    part("CallKit", in: "AppSDK", "AgentProtocol", "AppHost"),
    part("ActivityKit", in: "AppSDK", "AgentProtocol", "AppHost"),
]
let bareModules = ["CoreLocation", "MobileCoreServices", "_Testing_UIKit", "BackgroundTasks", "OSLog"]

let command: [Target] = [
    part(
        "AldabaConfiguration", "APNsProtocol", "AgentProtocol", "AppHost", "FCMProtocol", "Networking", "Platform",
        "PushCore", "PushServer", "RelayProtocol", "Scheduling", "CoreValues", "Texts", crypto, cryptoExtras, x509,
        asn1, argumentParser, yams, logging),
    program(
        "aldaba", in: "Sources", "APNsFrontend", "APNsProtocol", "AldabaAPNs", "AgentEngine", "AgentProtocol",
        "AgentRuntime", "AldabaConfiguration", "AppHost", "CenterPages", "Console", "ControlAPI", "DeviceChannel",
        "FCMFrontend", "FCMProtocol", "HubProtocol", "HubServer", "LinuxDesktop", "Networking", "Platform", "PushCore",
        "PushServer", "RelayAgent", "RelayProtocol", "NATSCarrier", "PostgresStore", "RelayServer", "SQLiteStore",
        "Scheduling", "TodoList", "PictureService", "WebPushProtocol", crypto, x509, nioCore, nioPosix, nioSSL,
        lifecycle, asyncHTTPClient, argumentParser, yams, logging, cryptoExtras, asn1, metrics, protobuf, hummingbird,
        exclude: ["README.md"]),
]

/// Apps that were written for iOS, in Swift 5.
let swift5: [SwiftSetting] = [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
let examples: [Target] = [
    program("RelayGuide", in: "Examples", "ConnectedDevices"), program("SendWithLibrary", in: "Examples", "AldabaAPNs"),
    program("PictureService", in: "Examples", "AldabaRichPush"),
    program("DeliveryActivity", in: "Examples", "ActivityKit", exclude: ["DeliveryActivity.aldaba.json"]),
    program("PushDemo", in: "Examples", "AldabaFlutterPush", "Flutter", exclude: ["host.py"]),
    // The flag stands for the bridging header by which such apps import Flutter. Some of the app's names are old.
    program(
        "PushDemoServices", in: "Examples", "Flutter",
        settings: swift5 + [
            .treatWarning("DeprecatedDeclaration", as: .warning),
            .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "Flutter"]),
        ]),
    .target(
        name: "Course", dependencies: ["CoreLocation", "UIKit", "UserNotifications"], path: "Examples/Course",
        exclude: ["README.md", "provider-by-key", "provider-by-certificate"], swiftSettings: strict),
    .target(
        name: "ReceiveGuide", dependencies: ["Firebase", "UIKit", "UserNotifications"], path: "Examples/ReceiveGuide",
        exclude: ["README.md"], swiftSettings: swift5),
    program("TodoList", in: "Examples", "Course", "Firebase", "UIKit", "UserNotifications"),
    program("TodoService", in: "Examples", "UserNotifications", settings: swift5),
]

let benchmarks: [Target] = [
    program("StoreRate", in: "Benchmarks", "PostgresStore", "PushCore", "PushServer", "SQLiteStore"),
    program("TopicRate", in: "Benchmarks", "PushCore", "PushServer", "SQLiteStore", grdb, nioPosix, logging),
    program("ScheduleRate", in: "Benchmarks", "Scheduling", "CoreValues", "UserNotifications"),
    program("CenterRate", in: "Benchmarks", "AgentProtocol", "AppHost"),
    program("MediaRate", in: "Benchmarks", "AgentRuntime", "AgentProtocol", "Networking", nioCore, nioPosix),
    program("AudienceRate", in: "Benchmarks", "HubProtocol", "PushCore"),
    program(
        "HubRate", in: "Benchmarks", "APNsProtocol", "HubProtocol", "HubServer", "PushCore", "PushServer",
        "PostgresStore", "RelayServer", "SQLiteStore", grdb, nioPosix, logging),
    program("SenderRate", in: "Benchmarks", "AldabaAPNs", "Networking", coreMetrics, nioPosix),
    program("BareTLS", in: "Benchmarks", nioCore, nioPosix, nioSSL),
    program("ImportRate", in: "Benchmarks", "HubProtocol", "HubServer", "PushCore"),
]
let fuzzing: [Target] = [
    .executableTarget(
        name: "Fuzz",
        dependencies: [
            "APNsFrontend", "APNsProtocol", "AgentEngine", "AgentProtocol", "AgentRuntime", "AldabaRichPush",
            "AldabaTestSupport", "Console", "ControlAPI", "CoreValues", "DeviceChannel", "FCMProtocol", "Flutter",
            "HubProtocol", "HubServer", "LinuxDesktop", "NATSCarrier", "Networking", "PushCore", "PushServer",
            "RelayAgent", "RelayProtocol", "Scheduling", "WebPushProtocol", crypto, nioCore,
        ], path: "Fuzzing", exclude: ["README.md", "Seeds"],
        swiftSettings: strict + (isFuzzing ? [.define("LIBFUZZER")] : []),
        linkerSettings: isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])] : [])
]

let testSupport: [Target] = [
    support("StoreMemory", "APNsProtocol", "FCMProtocol", "PushCore", "PushServer", "WebPushProtocol"),
    support("AldabaTestSupport", "CLinux", "Platform", "PushCore"),
    support("AgentDouble", "AgentProtocol"),
    support("MailboxHistories", "AldabaTestSupport", "DeviceChannel", "PushCore", "PushServer"),
    support("CertificateTestSupport", "APNsProtocol", "PushCore", x509, asn1, crypto),
    support(
        "StoreContract", "APNsProtocol", "AldabaTestSupport", "CertificateTestSupport", "FCMProtocol", "PushCore",
        "PushServer", "WebPushProtocol"),
    support("DeviceTestSupport", "AgentEngine", "AgentRuntime", "AldabaTestSupport", "PushCore", "WebPushProtocol"),
    support("StatementLog", grdb, grdbSQLite),
    support("PowerCut", "AldabaTestSupport", grdbSQLite),
    support("PostgresTestSupport", "AldabaTestSupport", "PostgresStore", "PushCore", "PushServer"),
]

let testTargets: [Target] = [
    tests("StoreMemory", "StoreContract"),
    tests(
        "Course", in: "Examples", "AgentProtocol", "AppHost", "CoreLocation", "UIKit", "UserNotifications",
        "_Testing_UIKit"),
    tests(
        "ReceiveGuide", in: "Examples", "AgentDouble", "AgentProtocol", "AppHost", "Firebase", "UIKit",
        "UserNotifications", "_Testing_UIKit"),
    tests("PushCore", in: "Core", crypto),
    tests("Platform", in: "Core"), tests("CoreValues", in: "Core"), tests("Texts", in: "Core"),
    tests("Networking", in: "Core", "PushCore", coreMetrics, logging, nioCore, nioPosix, nioEmbedded),
    tests("DeviceChannel", in: "Core", "PushCore", protobuf, nioCore, nioPosix, nioEmbedded),
    tests(
        "PushServer", in: "Server", "APNsProtocol", "AgentProtocol", "CertificateTestSupport", "DeviceChannel",
        "FCMProtocol", "MailboxHistories", "Networking", "PostgresTestSupport", "PushCore", "StoreContract",
        "StoreMemory", "WebPushProtocol", crypto, nioCore, nioPosix, logging, hummingbird, x509, nioSSL, nioEmbedded),
    tests(
        "SQLiteStore", in: "Server", "APNsProtocol", "HubProtocol", "HubServer", "Platform", "PowerCut", "PushCore",
        "PushServer", "RelayProtocol", "RelayServer", "StatementLog", "StoreContract", grdb, nioPosix, logging),
    tests("NATSCarrier", in: "Server", "PushCore", "PushServer", crypto),
    tests(
        "PostgresStore", in: "Server", "PostgresTestSupport", "PushCore", "PushServer", "StoreContract", "StoreMemory",
        nioPosix, logging),
    tests(
        "ControlAPI", in: "Server", "APNsProtocol", "DeviceChannel", "Networking", "PushCore", "PushServer",
        "StoreMemory", asyncHTTPClient, hummingbird, protobuf, nioCore, nioPosix, coreMetrics, logging, lifecycle),
    tests(
        "Console", in: "Server", "APNsProtocol", "FCMProtocol", "PushCore", "PushServer", "StoreMemory", "Texts",
        hummingbird, mustache, nioCore, nioPosix, logging),
    tests("APNsProtocol", in: "APNs", "CertificateTestSupport", "PushCore", crypto, asn1, x509),
    tests(
        "AldabaAPNs", in: "APNs", "APNsProtocol", "Networking", "PushCore", asn1, crypto, logging, nioCore, nioPosix,
        nioSSL, x509),
    tests(
        "APNsFrontend", in: "APNs", "APNsProtocol", "CertificateTestSupport", "Networking", "PushCore", "PushServer",
        "StoreContract", "StoreMemory", crypto, nioCore, nioPosix, logging, x509, nioSSL),
    tests("FCMProtocol", in: "FCM", "DeviceChannel", "PushCore", "WebPushProtocol", crypto, cryptoExtras),
    tests("WebPushProtocol", in: "WebPush", "PushCore", crypto),
    tests(
        "FCMFrontend", in: "FCM", "APNsProtocol", "FCMProtocol", "PushCore", "PushServer", "StoreMemory",
        "WebPushProtocol", crypto, cryptoExtras, hummingbird, nioCore, logging),
    tests("HubProtocol", in: "NotificationHub", "PushCore"),
    tests(
        "HubServer", in: "NotificationHub", "APNsProtocol", "HubProtocol", "Networking", "PostgresTestSupport",
        "PushCore", "PushServer", "SQLiteStore", "Scheduling", "StoreMemory", grdb, logging, hummingbird, nioCore,
        nioPosix),
    tests("RelayProtocol", in: "DeviceRelay"),
    tests(
        "RelayServer", in: "DeviceRelay", "HubProtocol", "HubServer", "PostgresTestSupport", "PowerCut", "PushCore",
        "PushServer", "RelayProtocol", "SQLiteStore", crypto, logging, grdb),
    tests("RelayAgent", in: "DeviceRelay", "RelayProtocol", "CoreValues", crypto, nioCore, nioEmbedded),
    tests("AgentProtocol", in: "Agent"),
    tests("CenterPages", in: "Agent", "AgentProtocol"),
    tests("Scheduling", in: "Agent", "AgentProtocol", "CoreValues"),
    tests(
        "AgentEngine", in: "Agent", "AgentProtocol", "DeviceTestSupport", "Platform", "PushCore", "Scheduling", crypto),
    tests(
        "AgentRuntime", in: "Agent", "AgentEngine", "AgentProtocol", "AppHost", "DeviceChannel", "DeviceTestSupport",
        "Firebase", "Networking", "Platform", "PowerCut", "PushCore", "Scheduling", "StatementLog", "_Testing_UIKit",
        grdb, nioCore, nioPosix, nioEmbedded, nioSSL, logging, x509, crypto),
    tests(
        "LinuxDesktop", in: "Agent", "AgentEngine", "AgentProtocol", "CLinux", "CXCB", "DeviceTestSupport", "Platform",
        "PushCore", "Scheduling", logging),
    tests("AppHost", in: "AppSDK", "AgentProtocol", "CLinux"),
    tests("UserNotifications", in: "AppSDK", "AgentProtocol", "AppHost", "CoreLocation", "Scheduling", "CoreValues"),
    tests("AldabaRichPush", in: "AppSDK", "AgentEngine", "AgentRuntime", "AgentProtocol", "UserNotifications"),
    tests("UserNotificationsUI", in: "AppSDK", "UIKit", "_Testing_UIKit"),
    tests(
        "UIKit", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "Platform", "UserNotifications",
        "_Testing_UIKit"),
    tests("MobileCoreServices", in: "AppSDK", "UserNotifications"),
    tests(
        "FirebaseMessaging", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "Firebase", "UIKit",
        "UserNotifications", "_Testing_UIKit"),
    tests("FirebaseInstanceID", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "Firebase", "_Testing_UIKit"),
    tests(
        "AldabaFlutterPush", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "Flutter", "PushDemoServices",
        "UIKit", "UserNotifications", "_Testing_UIKit"),
    tests("ConnectedDevices", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "RelayProtocol"),
    tests("Flutter", in: "AppSDK", "FlutterMacOS", "_Testing_UIKit"),
    tests("PushKit", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost", "CallKit"),
    tests("ActivityKit", in: "AppSDK", "AgentDouble", "AgentProtocol", "AppHost"),
    tests("aldaba", "AgentProtocol", "AldabaConfiguration", "Networking", "RelayProtocol", logging),
    tests(
        "AldabaConfiguration", "APNsProtocol", "AgentProtocol", "FCMProtocol", "HubServer", "Networking", "PushCore",
        "PushServer", "SQLiteStore", "aldaba", crypto, x509, argumentParser),
]

let package = Package(
    name: "aldaba",
    products: [.executable(name: "aldaba", targets: ["aldaba"])],
    traits: [
        .trait(name: "Programs", description: "The server, the agent, the command and what they are built on."),
        .default(enabledTraits: ["Programs"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/apple/swift-asn1", .upToNextMinor(from: "1.7.0")),
        .package(url: "https://github.com/apple/swift-certificates", .upToNextMinor(from: "1.21.1")),
        .package(url: "https://github.com/apple/swift-crypto", .upToNextMinor(from: "4.5.2")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
        .package(url: "https://github.com/apple/swift-nio-http2", .upToNextMinor(from: "1.46.0")),
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.6")),
        .package(url: "https://github.com/apple/swift-protobuf", .upToNextMinor(from: "1.39.0")),
        .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.1"),
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", .upToNextMinor(from: "2.1.1")),
        .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
    ],
    targets: system + core + server + apns + fcm + notificationHub + deviceRelay + agent + appSDK + command + examples
        + bareModules.map { part($0, in: "AppSDK") } + benchmarks + fuzzing + testSupport + testTargets
        + ["BackgroundTasks", "CoreLocation", "OSLog"].map { tests($0, in: "AppSDK") },
    swiftLanguageModes: [.v6]
)
// What apps import carries Apple's module names, which exist only where Apple's own do not.
#if os(Linux)
    // Those with views, whose tests the toolchain has import `_Testing_UIKit` as well.
    let views = ["UIKit", "UserNotificationsUI", "Flutter", "FlutterMacOS"]
    let firebase = ["FirebaseMessaging", "FirebaseInstanceID", "Firebase"]
    package.products += (views + firebase).map { .library(name: $0, targets: [$0, "_Testing_UIKit"]) }
    package.products += [
        "UserNotifications", "AldabaRichPush", "AldabaFlutterPush", "FirebaseCore", "ConnectedDevices", "RelayProtocol",
        "CoreLocation", "MobileCoreServices", "BackgroundTasks", "PushKit", "CallKit", "OSLog", "AppHost",
        "AgentProtocol", "ActivityKit", "AldabaAPNs",
    ].map { .library(name: $0, targets: [$0]) }
#endif
