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

/// A product of another package. Only programs need any: a package that asks for no traits fetches none.
func foreign(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}

let logging = foreign("Logging", "swift-log")
let metrics = foreign("Metrics", "swift-metrics")
let coreMetrics = foreign("CoreMetrics", "swift-metrics")
let nioCore = foreign("NIOCore", "swift-nio")
let nioPosix = foreign("NIOPosix", "swift-nio")
let nioFoundationCompat = foreign("NIOFoundationCompat", "swift-nio")
let nioEmbedded = foreign("NIOEmbedded", "swift-nio")
let nioHTTP1 = foreign("NIOHTTP1", "swift-nio")
let nioTLS = foreign("NIOTLS", "swift-nio")
let nioSSL = foreign("NIOSSL", "swift-nio-ssl")
let crypto = foreign("Crypto", "swift-crypto")
let cryptoExtras = foreign("CryptoExtras", "swift-crypto")
let asn1 = foreign("SwiftASN1", "swift-asn1")
let x509 = foreign("X509", "swift-certificates")
let grdb = foreign("GRDB", "GRDB.swift")
let grdbSQLite = foreign("GRDBSQLite", "GRDB.swift")
let protobuf = foreign("SwiftProtobuf", "swift-protobuf")
let hummingbird = foreign("Hummingbird", "hummingbird")
let lifecycle = foreign("ServiceLifecycle", "swift-service-lifecycle")
let asyncHTTPClient = foreign("AsyncHTTPClient", "async-http-client")
let argumentParser = foreign("ArgumentParser", "swift-argument-parser")
let yams = foreign("Yams", "Yams")

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
    room("Model", "Timestamps"),
    room("Model", "TextDirection"),
    room("Model", "PushModel", ["Timestamps"]),

    room("Wire", "HTTPWire"),
    room("Wire", "APNsWire", ["PushModel", "HTTPWire", crypto, cryptoExtras, x509, asn1]),
    room("Wire", "FCMWire", ["PushModel", "APNsWire", crypto, cryptoExtras]),
    room("Wire", "LegacyAPNsWire", ["PushModel"]),
    room("Wire", "MCSWire", ["PushModel", protobuf], exclude: ["Protobuf"]),
    room("Wire", "AgentWire"),
    room("Wire", "PushEncryption", ["PushModel", crypto]),
    room("Wire", "MediaFormat"),
    room("Wire", "XMLWire"),
    room("Wire", "HubWire", ["PushModel", "XMLWire", crypto]),
    room("Wire", "CarriageWire", ["PushModel", "APNsWire", "HubWire", "PushEncryption"]),
    room("Wire", "RelayWire"),
    room("Wire", "WebPushWire", ["PushModel", "MCSWire", "PushEncryption", crypto]),
    room("Wire", "FlutterWire"),

    room("Engine", "Mailbox", ["PushModel"]),
    room("Engine", "DeviceSession", ["PushModel", "MCSWire"]),
    room("Engine", "LocalSchedule", ["Timestamps", "AgentWire"]),
    room("Engine", "Audience", ["PushModel", "HubWire", "LocalSchedule"]),
    room("Engine", "Fanout", ["PushModel"]),
    room("Engine", "Relay", ["RelayWire", "TextDirection"]),
    room("Engine", "NoiseSession", [crypto]),

    room("Transport", "Observability", ["TextDirection", logging, metrics, coreMetrics]),
    room("Transport", "ConnectionAdmission", ["Observability", nioCore, logging, metrics]),
    room("Transport", "OutboundAddresses", ["Machine", "ConnectionAdmission", nioCore]),
    room(
        "Transport", "OutboundHTTP",
        ["ConnectionAdmission", "OutboundAddresses", asyncHTTPClient, nioCore, nioSSL]),
    room(
        "Transport", "HTTP2Transport",
        [
            "CNghttp2", "HTTPWire", "ConnectionAdmission", "Observability", nioCore, nioPosix, nioSSL, nioTLS, logging,
            metrics,
        ]),
    room(
        "Transport", "MCSTransport",
        ["Machine", "PushModel", "MCSWire", "DeviceSession", nioCore, nioPosix, nioSSL, logging]),

    room("Server", "RegisterCore", ["PushModel", "APNsWire", "Mailbox", "PushEncryption", "WebPushWire", crypto]),
    room(
        "Server", "ServerCore",
        [
            "DeviceEnrolment", "PushModel", "APNsWire", "Mailbox", "Observability", "PushEncryption", "RegisterCore",
            "WebPushWire", "Fanout", crypto, nioCore, logging, metrics,
        ]),
    room(
        "Server", "DeviceEnrolment",
        ["PushModel", "PushEncryption", "RegisterCore", crypto]),
    room("Server", "MemberCentre", ["PushModel", "APNsWire", "FCMWire", "Mailbox", "RegisterCore"]),
    room(
        "Server", "UpstreamDelivery",
        [
            "PushModel", "APNsWire", "OutboundHTTP", "Observability", "RegisterCore", "ServerCore", "ControlHTTP",
            hummingbird, lifecycle, crypto, nioCore, logging, metrics,
        ]),
    room(
        "Server", "Reports",
        [
            "PushModel", "APNsWire", "Observability", "RegisterCore", "ServerCore", "ControlHTTP", hummingbird, nioCore,
            logging, metrics,
        ]),
    room("Server", "SQLiteSchema", [grdb]),
    room("Server", "SQLiteFiles", ["ServerCore", grdb]),
    room(
        "Server", "StoreSQLite",
        [
            "SQLiteFiles", "SQLiteSchema", "CLinux", "PushModel", "APNsWire", "Mailbox", "RegisterCore", "ServerCore",
            "MemberCentre", "PushEncryption", "WebPushWire", "UpstreamDelivery", "Fanout", "Topics", "Reports", "Inventory", grdb,
            grdbSQLite,
            logging,
        ]),
    room(
        "Server", "StoreMemory",
        [
            "PushModel", "APNsWire", "Mailbox", "RegisterCore", "ServerCore", "MemberCentre", "PushEncryption",
            "WebPushWire", "UpstreamDelivery", "Fanout", "Topics", "Reports", "Inventory",
        ]),
    room(
        "Server", "ProviderEndpoint",
        [
            "PushModel", "HTTPWire", "APNsWire", "HTTP2Transport", "Observability", "RegisterCore", "ServerCore",
            "MemberCentre", nioCore, nioPosix, nioSSL, logging, metrics,
        ]),
    room(
        "Server", "LegacyEndpoint",
        [
            "PushModel", "APNsWire", "LegacyAPNsWire", "ConnectionAdmission", "Observability", "RegisterCore",
            "ServerCore", "MemberCentre", nioCore, nioPosix, nioSSL, nioTLS, logging, metrics,
        ]),
    room(
        "Server", "DeviceEndpoint",
        [
            "PushModel", "MCSWire", "DeviceSession", "ConnectionAdmission", "MCSTransport", "Observability",
            "ServerCore", "WebPushWire", nioCore, nioPosix, nioSSL, logging, metrics,
        ]),
    room(
        "Server", "RelayCentre",
        ["PushModel", "RelayWire", "Relay", "Observability", "ServerCore", crypto, logging, metrics]),
    room(
        "Server", "FCMEnrolment",
        [
            "DeviceEnrolment", "ControlHTTP", "PushModel", "APNsWire", "PushEncryption", "RegisterCore", "ServerCore",
            "WebPushWire", crypto, hummingbird, nioCore,
        ]),
    room(
        "Server", "MediaStore",
        ["Machine", "PushModel", "HTTPWire", "MediaFormat", crypto, metrics]),
    room(
        "Server", "ControlHTTP",
        [
            "ConnectionAdmission", "PushModel", "Observability", "RegisterCore", hummingbird, nioCore, nioPosix, logging,
            metrics,
        ]),
    room(
        "Server", "Inventory", ["PushModel", "RegisterCore", "ServerCore", "ControlHTTP", hummingbird]),
    room("Server", "Topics", ["PushModel", "APNsWire", "Fanout", "RegisterCore", "ServerCore"]),
    room(
        "Server", "TopicEndpoint",
        [
            "ControlHTTP", "PushModel", "Fanout", "Observability", "RegisterCore", "Topics", hummingbird,
            nioFoundationCompat, logging,
        ]),
    room(
        "Server", "FCMEndpoint",
        [
            "Fanout", "Topics", "TopicEndpoint", "WebPushWire", "HTTPWire",
            "PushModel", "APNsWire", "FCMWire", "Observability", "ControlHTTP", "RegisterCore", "ServerCore",
            "MemberCentre", hummingbird, nioCore, logging, metrics,
        ]),
    room(
        "Server", "ControlAPI",
        [
            "ControlHTTP", "DeviceEnrolment", "FCMEnrolment", "ConnectionAdmission", "PushModel", "HTTPWire", "MCSWire",
            "MediaFormat", "Observability", "RegisterCore", "ServerCore", "MediaStore", "APNsWire", "PushEncryption",
            hummingbird, nioCore, nioPosix,
            nioSSL, logging, metrics,
        ]),
    room(
        "Server", "Hub",
        [
            "PushModel", "APNsWire", "HubWire", "CarriageWire", "Audience", "LocalSchedule", "RegisterCore",
            "ServerCore", crypto, logging,
        ]),
    room("Server", "StoreRelay", ["Observability", "SQLiteFiles", "RelayWire", "Relay", "RelayCentre", grdb, logging]),
    room("Server", "RelayWaking", ["PushModel", "RelayWire", "HubWire", "Hub", "RelayCentre"]),
    room(
        "Server", "HubSenders",
        [
            "PushModel", "APNsWire", "HubWire", "CarriageWire", "Hub", "OutboundHTTP", "PushEncryption", crypto,
            cryptoExtras, logging,
        ]),
    room(
        "Server", "HubGateway",
        [
            "PushModel", "APNsWire", "HubWire", "CarriageWire", "Audience", "Fanout", "Hub", "RegisterCore",
            "ServerCore", "Topics",
        ]),
    room("Server", "HubWebhooks", ["PushModel", "HubWire", "Hub", "UpstreamDelivery", logging, metrics]),
    room("Server", "StoreHub", ["SQLiteFiles", "PushModel", "HubWire", "Audience", "Hub", crypto, grdb]),
    room(
        "Server", "HubEndpoint",
        [
            "ControlHTTP", "ConnectionAdmission", "PushModel", "PushEncryption", "HTTPWire", "HubWire", "CarriageWire",
            "Audience", "Hub", "RegisterCore", "ServerCore", "UpstreamDelivery", hummingbird,
            lifecycle, nioCore, logging, metrics,
        ]),

    room("Device", "AppHost", ["AgentWire", "CLinux", "Machine"]),
    room("Device", "LocalZones", ["Timestamps", "LocalSchedule"]),
    room(
        "Device", "UserNotifications",
        ["AppHost", "Timestamps", "AgentWire", "MediaFormat", "LocalSchedule", "LocalZones", "CoreLocation"]),
    room("Device", "AldabaRichPush", ["AgentWire", "AppHost", "UserNotifications"]),
    room("Device", "FirebaseCore", ["AppHost"]),
    room(
        "Device", "FirebaseMessaging",
        ["AgentWire", "AppHost", "FirebaseCore", "UserNotifications", "UIKit", "AldabaRichPush"]),
    room("Device", "FirebaseInstanceID", ["FirebaseMessaging"]),
    room("Device", "Firebase", ["FirebaseCore", "FirebaseInstanceID", "FirebaseMessaging"]),
    room("Device", "CoreLocation"),
    room("Device", "MobileCoreServices"),
    room("Device", "UIKit", ["AgentWire", "AppHost", "UserNotifications"]),
    room("Device", "UserNotificationsUI", ["UserNotifications", "UIKit"]),
    room("Device", "_Testing_UIKit"),
    room("Device", "AldabaFlutterPush", ["Flutter", "UIKit"]),
    room("Device", "Flutter", ["FlutterWire", "CLinux", "Machine", "AppHost", "UIKit"]),
    room("Device", "DeviceModel", ["Machine", "PushModel", "TextDirection", "AgentWire", "LocalSchedule"]),
    room("Device", "DevicePorts", ["PushModel", "LocalSchedule", "DeviceModel"]),
    room(
        "Device", "DeviceStore",
        ["CLinux", "Machine", "PushModel", "AgentWire", "LocalSchedule", "DeviceModel", "PushEncryption", grdb]),
    room(
        "Device", "DevicePrograms",
        ["Machine", "PushModel", "TextDirection", "AgentWire", "Observability", "DeviceModel", "DevicePorts", logging]),
    room("Device", "Attachments", ["Machine", "PushModel", "AgentWire", "MediaFormat", "DeviceModel", "DevicePorts"]),
    room(
        "Device", "MediaFetching",
        [
            "Machine", "AgentWire", "ConnectionAdmission", "OutboundAddresses", "Attachments", nioCore, nioPosix,
            nioHTTP1,
            nioSSL, asyncHTTPClient,
        ]),
    room(
        "Device", "AppConnections",
        ["CLinux", "Machine", "AgentWire", "DeviceModel", nioCore, nioPosix]),
    room(
        "Device", "AppConversation", ["PushModel", "AgentWire", "DeviceModel", "AppConnections", "Attachments"]),
    room(
        "Device", "InstalledApps",
        ["Machine", "PushModel", "AgentWire", "DeviceModel", "DevicePorts", "AppConnections"]),
    room(
        "Device", "DeviceLink",
        [
            "CLinux", "Machine", "PushModel", "MCSWire", "DeviceSession", "MCSTransport", "Observability", "AgentWire",
            "DeviceModel", "PushEncryption", nioCore, nioPosix, nioSSL, asyncHTTPClient, logging,
        ]),
    room(
        "Device", "RequestScheduling",
        ["PushModel", "AgentWire", "LocalSchedule", "LocalZones", "DeviceModel", "DevicePorts"]),
    room(
        "Device", "ServiceExtensions",
        [
            "Machine", "PushModel", "AgentWire", "DeviceModel", "DeviceStore", "AppConnections", "Attachments",
            "MediaFetching", nioPosix,
        ]),
    room(
        "Device", "ManagementDesk",
        [
            "PushModel", "AgentWire", "LocalSchedule", "DeviceModel", "DeviceStore", "AppConnections",
            "AppConversation", "InstalledApps", "RequestScheduling",
        ]),
    room(
        "Device", "PresentationPlanning", ["PushModel", "AgentWire", "DeviceModel", "InstalledApps", "Attachments"]),
    room(
        "Device", "AgentEngine",
        [
            "PushModel", "AgentWire", "LocalSchedule", "Observability", "PushEncryption", "DeviceModel", "DevicePorts",
            "DeviceStore", "AppConnections", "InstalledApps", "AppConversation", "RequestScheduling",
            "PresentationPlanning", "ManagementDesk", "ServiceExtensions", logging,
        ]),
    room(
        "Device", "AgentCore",
        [
            "AgentEngine", "PresentationPlanning", "Machine", "PushModel", "AgentWire", "LocalSchedule", "LocalZones",
            "Observability", "DeviceModel",
            "DevicePorts", "DeviceStore", "DevicePrograms", "Attachments", "AppConnections", "InstalledApps",
            "DeviceLink", "RequestScheduling", "PushEncryption", "AppConversation", "ManagementDesk",
            "ServiceExtensions", "ConnectionAdmission", "MediaFetching", "OutboundAddresses", "RelayHost",
            "RelayServices", "DirectRelay", "DeviceRelay", nioCore, nioPosix, logging,
        ]),
    room(
        "Device", "DeviceRelay",
        [
            "PushModel", "Timestamps", "AgentWire", "RelayWire", "Observability", "DeviceModel", "DevicePorts",
            "AppConnections", "Relay", "RelayHost", "RelayTrust", "RelayedFiles", "RelayServices", "DirectRelay",
            "Machine",
            nioCore, logging,
        ]),
    room("Device", "ConnectedDevices", ["AgentWire", "AppHost", "RelayWire"]),
    room("Device", "RelayedFiles", ["RelayWire", "TextDirection", "Machine", crypto]),
    room("Device", "RelayTrust", ["RelayWire", "NoiseSession", crypto]),
    room("Device", "RelayedDocuments", ["RelayWire", "Relay", "RelayTrust"]),
    room("Device", "RelayHost", ["RelayWire", "Relay", "RelayedDocuments", "RelayedFiles", "RelayTrust", crypto]),
    room(
        "Device", "DirectRelay",
        ["RelayWire", "Relay", "RelayTrust", "MessageBus", "Machine", "Observability", nioCore, nioPosix, logging]),
    room(
        "Device", "RelayServices",
        [
            "PushModel", "TextDirection", "AgentWire", "RelayWire", "Relay", "RelayHost", "RelayTrust", "RelayedFiles",
            "DeviceModel", "Attachments",
            "MessageBus",
            "Machine",
        ]),
    room("Device", "MessageBus", ["CDBus", "Machine"]),
    room(
        "Device", "SystemClock",
        ["PushModel", "CLinux", "Machine", "DevicePorts", "LocalSchedule", "MessageBus", "Observability", logging]),
    room("Device", "Positions", ["CLinux", "Machine", "DevicePorts", "MessageBus"]),
    room(
        "Device", "Desktop",
        [
            "Machine", "AgentWire", "DeviceModel", "DevicePorts", "PushModel", "TextDirection", "MessageBus",
            "Observability", logging,
        ]),
    room("Device", "WindowFocus", ["CXCB", "Machine", "DevicePorts"]),
]

let commands: [Target] = [
    room(
        "Command", "CommandCore",
        [
            "Machine", "PushModel", "TextDirection", "HTTPWire", "APNsWire", "FCMWire", "AgentWire", "LocalSchedule",
            "LocalZones", "ConnectionAdmission", "RegisterCore", "MemberCentre", "AppHost", "RelayWire", crypto, cryptoExtras, x509,
            asn1, argumentParser, yams, logging,
        ]),
    room("Command", "Supervision", ["CommandCore", "Machine", logging]),
    room(
        "Command", "Monitoring",
        [
            "CommandCore", "AgentWire", "ConnectionAdmission", "ControlAPI", "Observability", nioPosix, logging, metrics,
        ]),
    room(
        "Command", "ServerCommands",
        [
            "Machine", "PushModel", "APNsWire", "AgentWire", "CommandCore", "RegisterCommands", "SQLiteFiles", "StoreSQLite",
            crypto, nioCore, nioPosix, nioSSL, asyncHTTPClient, argumentParser,
        ]),
    room(
        "Command", "RelayCommands",
        [
            "RelayWire", "Relay", "RelayHost", "RelayedFiles", "RelayServices", "HubWire", "Machine", "CommandCore",
            argumentParser,
        ]),
    room(
        "Command", "RegisterCommands",
        [
            "PushModel", "APNsWire", "FCMWire", "Mailbox", "RegisterCore", "MemberCentre", "SQLiteFiles", "StoreSQLite",
            "CommandCore", "UpstreamDelivery", "HubWire", "CarriageWire", "LocalZones", "Hub", "HubSenders", "StoreHub",
            argumentParser, crypto, cryptoExtras, x509, asn1,
        ]),
    .executableTarget(
        name: "aldaba",
        dependencies: [
            "PushModel", "HTTPWire", "APNsWire", "MCSWire", "ConnectionAdmission", "HTTP2Transport", "MCSTransport",
            "DeviceSession", "Observability", "RegisterCore", "ServerCore", "MemberCentre", "StoreSQLite",
            "DeviceEnrolment", "ProviderEndpoint", "DeviceEndpoint", "ControlAPI", "MediaStore", "Mailbox", "AgentCore",
            "DeviceModel",
            "DevicePorts", "DeviceStore", "DevicePrograms", "InstalledApps", "AgentWire", "LocalSchedule", "LocalZones",
            "AppHost", "Desktop", "WindowFocus", "SystemClock", "MessageBus", "Positions", "TodoList", "CommandCore",
            "RegisterCommands", "Machine", "PushEncryption", "LegacyEndpoint", "FCMWire", "ControlHTTP", "FCMEndpoint",
            "FCMEnrolment", "UpstreamDelivery", "RelayCommands", "RelayHost", "RelayTrust", "DeviceRelay",
            "RelayCentre", "Topics",
            "TopicEndpoint", "HubWire", "Hub", "HubGateway", "SQLiteFiles", "StoreHub", "StoreRelay", "HubEndpoint",
            "HubSenders",
            "HubWebhooks",
            "OutboundHTTP", "RelayWaking", "RelayWire", "Reports", "Inventory",
            "Supervision", "Monitoring",
            "ServerCommands", crypto, x509,
            nioCore, nioPosix, nioSSL, lifecycle,
            asyncHTTPClient, argumentParser, yams, logging,
        ],
        path: "Sources/Command/aldaba", exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
        name: "RelayGuide", dependencies: ["ConnectedDevices"], path: "Examples/RelayGuide", swiftSettings: strict),
    .executableTarget(
        name: "PictureService", dependencies: ["AldabaRichPush"], path: "Examples/PictureService", swiftSettings: strict
    ),
    .executableTarget(
        name: "PushDemo", dependencies: ["AldabaFlutterPush", "Flutter"], path: "Examples/PushDemo",
        exclude: ["host.py"], swiftSettings: strict),
    // In Swift 5, as the code of apps is that was written for iOS; some of its names are old. The flag stands for the bridging
    // header by which such apps import Flutter in files that do not say so.
    .executableTarget(
        name: "PushDemoServices", dependencies: ["Flutter"], path: "Examples/PushDemoServices",
        swiftSettings: [
            .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
            .treatWarning("DeprecatedDeclaration", as: .warning),
            .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "Flutter"]),
        ]),
    .target(
        name: "Course", dependencies: ["UserNotifications", "UIKit", "CoreLocation"], path: "Examples/Course",
        exclude: ["README.md", "provider-by-key", "provider-by-certificate"], swiftSettings: strict),
    // In Swift 5, as the code of apps is that was written for iOS.
    .target(
        name: "ReceiveGuide", dependencies: ["Firebase", "UserNotifications", "UIKit"], path: "Examples/ReceiveGuide",
        exclude: ["README.md"], swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .executableTarget(
        name: "TodoList", dependencies: ["Course", "Firebase", "UserNotifications", "UIKit"], path: "Examples/TodoList",
        swiftSettings: strict),
    .executableTarget(
        name: "TodoService", dependencies: ["UserNotifications"], path: "Examples/TodoService",
        swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
]

let benchmarks: [Target] = [
    .executableTarget(
        name: "StoreRate", dependencies: ["PushModel", "ServerCore", "StoreSQLite"], path: "Benchmarks/StoreRate",
        swiftSettings: strict),
    .executableTarget(
        name: "TopicRate",
        dependencies: [
            "PushModel", "Fanout", "Mailbox", "RegisterCore", "ServerCore", "StoreSQLite", "Topics", grdb, nioPosix,
            logging,
        ], path: "Benchmarks/TopicRate", swiftSettings: strict),
    .executableTarget(
        name: "ScheduleRate", dependencies: ["Timestamps", "LocalSchedule", "LocalZones", "UserNotifications"],
        path: "Benchmarks/ScheduleRate",
        swiftSettings: strict),
    .executableTarget(
        name: "CenterRate", dependencies: ["AgentWire", "AppHost"], path: "Benchmarks/CenterRate",
        swiftSettings: strict),
    .executableTarget(
        name: "MediaRate",
        dependencies: ["AgentWire", "ConnectionAdmission", "MediaFetching", "OutboundAddresses", nioCore, nioPosix],
        path: "Benchmarks/MediaRate", swiftSettings: strict),
    .executableTarget(
        name: "AudienceRate", dependencies: ["PushModel", "HubWire", "Audience"], path: "Benchmarks/AudienceRate",
        swiftSettings: strict),
    .executableTarget(
        name: "HubRate",
        dependencies: [
            "PushModel", "APNsWire", "HubWire", "Fanout", "Mailbox", "RegisterCore", "ServerCore", "Hub", "HubGateway",
            "StoreHub", "StoreSQLite", "Topics", grdb, nioPosix, logging,
        ], path: "Benchmarks/HubRate", swiftSettings: strict),
    .executableTarget(
        name: "BareTLS", dependencies: [nioCore, nioPosix, nioSSL], path: "Benchmarks/BareTLS", swiftSettings: strict),
    .executableTarget(
        name: "ImportRate", dependencies: ["PushModel", "HubWire", "StoreHub"], path: "Benchmarks/ImportRate",
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
        fuzzer("EncryptionFuzz", ["PushEncryption"]),
        fuzzer("CertificateFuzz", ["APNsWire", "PushModel"]),
        fuzzer("MCSFuzz", ["MCSWire", "PushModel"]),
        fuzzer("CheckinFuzz", ["MCSWire", "PushModel"]),
        fuzzer("WebPushFuzz", ["MCSWire", "PushEncryption", "PushModel", "WebPushWire"]),
        fuzzer("FCMFuzz", ["FCMWire", "PushModel"]),
        fuzzer("LegacyFrameFuzz", ["LegacyAPNsWire"]),
        fuzzer("AgentWireFuzz", ["AgentWire"]),
        fuzzer("ContentFuzz", ["AgentWire"]),
        fuzzer("ZoneFuzz", ["Timestamps", "LocalSchedule"]),
        fuzzer("ConditionFuzz", ["Fanout"]),
        fuzzer("FlutterFuzz", ["FlutterWire"]),
        fuzzer("PatternFuzz", ["Timestamps", "AgentWire", "LocalSchedule"]),
        fuzzer("PositionFuzz", ["DevicePorts", "Positions"]),
        fuzzer("MediaFuzz", ["HTTPWire", "MediaFormat"]),
        fuzzer("MediaFetchFuzz", ["AgentWire", "MediaFetching", nioCore]),
        fuzzer("RelayFuzz", ["RelayWire"]),
        fuzzer("PayloadMediaFuzz", ["AgentWire", "AldabaRichPush"]),
        fuzzer("PayloadMarksFuzz", ["Reports"]),
        fuzzer("HubFuzz", ["Audience", "HubWire", "XMLWire"]),
        fuzzer("PlanFuzz", ["HubSenders", "HubWire"]),
        fuzzer("FormFuzz", ["ConnectionAdmission", "ControlHTTP", "UpstreamDelivery", nioCore]),
        fuzzer("NoiseFuzz", ["NoiseSession", "RelayTrust", "RelayWire", crypto]),
        fuzzer("ManifestFuzz", ["DeviceModel", "InstalledApps"]),
    ] : []

let support: [Target] = [
    .target(
        name: "AldabaTestSupport", dependencies: ["CLinux", "PushModel"], path: "Tests/AldabaTestSupport",
        swiftSettings: strict),
    .target(name: "AgentDouble", dependencies: ["AgentWire"], path: "Tests/AgentDouble", swiftSettings: strict),
    .target(
        name: "MailboxHistories", dependencies: ["AldabaTestSupport", "Mailbox", "PushModel"],
        path: "Tests/MailboxHistories", swiftSettings: strict),
    .target(
        name: "CertificateTestSupport", dependencies: ["APNsWire", "PushModel", x509, asn1, crypto],
        path: "Tests/CertificateTestSupport", swiftSettings: strict),
    .target(
        name: "StoreContract",
        dependencies: [
            "AldabaTestSupport", "CertificateTestSupport", "APNsWire", "RegisterCore", "ServerCore", "MemberCentre",
            "Mailbox", "PushModel", "PushEncryption", "WebPushWire", "UpstreamDelivery", "Fanout", "Topics", "Reports",
            "Inventory",
        ],
        path: "Tests/StoreContract", swiftSettings: strict),
    .target(
        name: "DeviceTestSupport",
        dependencies: ["AldabaTestSupport", "DeviceLink", "DeviceModel", "Machine", "PushModel", "PushEncryption"],
        path: "Tests/DeviceTestSupport", swiftSettings: strict),
    .target(
        name: "StatementLog", dependencies: [grdb, grdbSQLite], path: "Tests/StatementLog", swiftSettings: strict),
    .target(
        name: "PowerCut", dependencies: ["AldabaTestSupport", grdbSQLite], path: "Tests/PowerCut",
        swiftSettings: strict),
]

let testTargets: [Target] = [
    tests("System", "Machine", ["Machine"]),
    tests("Model", "PushModel", ["PushModel"]),
    tests("Model", "TextDirection", ["TextDirection"]),
    tests(
        "Wire", "APNsWire", ["APNsWire", "CertificateTestSupport", "HTTPWire", "PushModel", crypto, asn1, x509]),
    tests("Wire", "MCSWire", ["MCSWire", "PushModel", protobuf]),
    tests("Wire", "FCMWire", ["FCMWire", "PushModel", crypto, cryptoExtras]),
    tests("Wire", "LegacyAPNsWire", ["LegacyAPNsWire", "PushModel"]),
    tests("Wire", "AgentWire", ["AgentWire"]),
    tests("Wire", "PushEncryption", ["PushEncryption", "PushModel", crypto]),
    tests("Wire", "HTTPWire", ["HTTPWire"]),
    tests("Wire", "WebPushWire", ["WebPushWire", "MCSWire", "PushEncryption", "PushModel", crypto]),
    tests("Wire", "MediaFormat", ["MediaFormat"]),
    tests("Wire", "HubWire", ["HubWire", "XMLWire", "PushModel"]),
    tests("Wire", "XMLWire", ["XMLWire"]),
    tests("Engine", "Audience", ["Audience", "HubWire", "PushModel"]),
    tests(
        "Server", "Hub",
        [
            "Hub", "StoreHub", "HubWire", "Audience", "LocalSchedule", "RegisterCore", "ServerCore", "PushModel", grdb,
            logging, "HubEndpoint", "HubSenders", "HubWebhooks", "UpstreamDelivery", "ControlHTTP", hummingbird,
            "APNsWire", "HTTPWire", "ConnectionAdmission",
            "Fanout", "HubGateway", "Mailbox", "StoreMemory", "Topics", nioCore, nioPosix,
        ]),
    tests(
        "Server", "HubSenders",
        ["HubSenders", "Hub", "HubWire", "CarriageWire", "OutboundHTTP", "PushModel", crypto]),
    tests("Wire", "RelayWire", ["RelayWire"]),
    tests("Engine", "Mailbox", ["Mailbox", "PushModel", "MailboxHistories"]),
    tests("Engine", "DeviceSession", ["DeviceSession", "MCSWire", "PushModel"]),
    tests("Engine", "LocalSchedule", ["Timestamps", "LocalSchedule", "AgentWire"]),
    tests("Engine", "Fanout", ["Fanout", "PushModel"]),
    tests("Engine", "Relay", ["Relay", "RelayWire"]),
    tests("Engine", "NoiseSession", ["NoiseSession", crypto]),
    tests(
        "Transport", "ConnectionAdmission", ["ConnectionAdmission", nioCore, nioPosix, nioEmbedded, logging]),
    tests("Transport", "OutboundAddresses", ["OutboundAddresses", "ConnectionAdmission", nioCore]),
    tests(
        "Transport", "HTTP2Transport",
        ["ConnectionAdmission", logging, "HTTP2Transport", "HTTPWire", nioCore, nioPosix, nioEmbedded]),
    tests(
        "Transport", "MCSTransport",
        ["MCSTransport", "DeviceSession", "MCSWire", "PushModel", x509, crypto, nioCore, nioPosix, nioSSL, nioEmbedded]),
    tests(
        "Server", "ServerCore",
        [
            "DeviceEnrolment", "RegisterCore", "ServerCore", "StoreMemory", "StoreContract", "APNsWire", "Mailbox",
            "PushModel",
            "PushEncryption", "Fanout", crypto, nioCore, nioPosix, logging,
        ]),
    tests(
        "Server", "ProviderEndpoint",
        [
            "ProviderEndpoint", "HTTP2Transport", "RegisterCore", "ServerCore", "StoreMemory", "StoreContract",
            "CertificateTestSupport", "MemberCentre", "APNsWire", "HTTPWire",
            "Mailbox", "PushModel", crypto, nioCore, nioPosix, logging,
        ]),
    tests(
        "Server", "LegacyEndpoint",
        [
            "LegacyEndpoint", "LegacyAPNsWire", "ConnectionAdmission", "RegisterCore", "ServerCore", "StoreMemory",
            "StoreContract", "APNsWire", "Mailbox", "PushModel", x509, crypto, nioCore, nioPosix, nioSSL, logging,
        ]),
    tests(
        "Server", "MemberCentre",
        ["MemberCentre", "RegisterCore", "CertificateTestSupport", "APNsWire", "PushModel"]),
    tests(
        "Server", "UpstreamDelivery",
        [
            "UpstreamDelivery", "ControlHTTP", "RegisterCore", "ServerCore", "StoreMemory", "APNsWire", "Mailbox",
            "PushModel", "ConnectionAdmission", "OutboundAddresses", "OutboundHTTP", hummingbird, nioCore, logging,
        ]),
    tests("Server", "StoreMemory", ["StoreMemory", "StoreContract"]),
    tests(
        "Server", "SQLiteFiles",
        [
            "SQLiteFiles", "SQLiteSchema", "StoreSQLite", "StoreHub", "StoreRelay", "Hub", "HubWire", "RegisterCore", "Relay",
            "RelayWire", "RelayCentre", "ServerCore", "Mailbox", "PushModel", grdb, logging,
        ]),
    tests(
        "Server", "StoreSQLite",
        [
            "DeviceEnrolment", "SQLiteFiles", "SQLiteSchema", "StoreSQLite", "StoreContract", "StatementLog", "PowerCut",
            "RegisterCore", "ServerCore", "Mailbox", "Machine",
            "APNsWire", "PushModel", "Fanout", "Topics", "UpstreamDelivery", "Reports", grdb, nioPosix, logging,
        ]),
    tests(
        "Server", "Topics",
        [
            "DeviceEnrolment", "Topics", "Fanout", "StoreMemory", "RegisterCore", "ServerCore", "APNsWire", "Mailbox",
            "PushModel",
            "StoreContract", nioCore, nioPosix, logging,
        ]),
    tests(
        "Server", "DeviceEndpoint",
        [
            "ConnectionAdmission", "DeviceEndpoint", "DeviceSession", "MCSTransport", "MCSWire", "ServerCore",
            "PushModel", "PushEncryption", "WebPushWire", x509, crypto, nioCore, nioPosix, nioSSL, logging,
        ]),
    tests(
        "Server", "RelayCentre",
        [
            "RelayCentre", "StoreRelay", "RelayWire", "Relay", "ServerCore", "PushModel", "PowerCut", crypto, logging,
            grdb,
        ]),
    tests("Server", "RelayWaking", ["RelayWaking", "RelayCentre", "Hub", "HubWire", "RelayWire", "PushModel"]),
    tests("Device", "ConnectedDevices", ["ConnectedDevices", "RelayWire", "AppHost", "AgentWire", "AgentDouble"]),
    tests("Device", "RelayedDocuments", ["RelayedDocuments", "Relay", "RelayTrust", "RelayWire"]),
    tests("Device", "RelayHost", ["RelayHost", "Relay", "RelayedFiles", "RelayWire", crypto]),
    tests("Device", "RelayTrust", ["RelayTrust", "RelayWire", "NoiseSession", crypto]),
    tests("Device", "DeviceRelay", ["DeviceRelay", "RelayHost", "Relay", "RelayWire"]),
    tests("Device", "DirectRelay", ["DirectRelay", nioCore, nioEmbedded]),
    tests("Device", "AppHost", ["AppHost", "AgentWire", "CLinux"]),
    tests("Device", "LocalZones", ["Timestamps", "LocalZones", "LocalSchedule"]),
    tests("Device", "UserNotifications", ["Timestamps", "UserNotifications", "CoreLocation", "AppHost", "AgentWire"]),
    tests("Device", "AldabaRichPush", ["AldabaRichPush", "UserNotifications", "AgentWire", "DeviceModel"]),
    tests(
        "Device", "FirebaseMessaging",
        ["AgentDouble", "Firebase", "AgentWire", "AppHost", "UserNotifications", "UIKit", "_Testing_UIKit"]),
    tests(
        "Device", "FirebaseInstanceID",
        ["AgentDouble", "Firebase", "FirebaseInstanceID", "AgentWire", "AppHost", "_Testing_UIKit"]),
    tests("Device", "CoreLocation", ["CoreLocation"]),
    tests("Device", "MobileCoreServices", ["MobileCoreServices", "UserNotifications"]),
    tests("Device", "UIKit", ["UIKit", "_Testing_UIKit", "UserNotifications", "AppHost", "AgentWire", "AgentDouble"]),
    tests("Device", "UserNotificationsUI", ["UserNotificationsUI", "UIKit", "_Testing_UIKit", "UserNotifications"]),
    tests("Device", "DeviceModel", ["DeviceTestSupport", "DeviceModel", "AgentWire", "PushModel"]),
    tests(
        "Device", "DevicePrograms", ["DeviceTestSupport", "DevicePrograms", "DeviceModel", "DevicePorts", "PushModel"]),
    tests("Device", "Attachments", ["DeviceTestSupport", "Attachments", "AgentWire"]),
    tests(
        "Device", "MediaFetching",
        [
            "MediaFetching", "AgentWire", "ConnectionAdmission", "OutboundAddresses", nioCore, nioPosix, nioSSL, x509,
            crypto,
        ]),
    tests(
        "Device", "AppConnections",
        ["DeviceTestSupport", "AppConnections", "DeviceModel", "AgentWire", nioCore, nioPosix, nioEmbedded]),
    tests(
        "Device", "AppConversation",
        ["AppConversation", "AppConnections", "Attachments", "DeviceModel", "AgentWire", nioEmbedded]),
    tests(
        "Device", "InstalledApps",
        [
            "DeviceTestSupport", "InstalledApps", "AppConnections", "DeviceModel", "AgentWire", "PushModel",
            nioEmbedded,
        ]),
    tests(
        "Device", "DeviceLink",
        [
            "DeviceTestSupport", "DeviceLink", "DeviceModel", "Machine", "MCSTransport", "MCSWire", "PushModel",
            "PushEncryption", nioCore, nioPosix, logging,
        ]),
    tests(
        "Device", "ManagementDesk",
        [
            "DeviceTestSupport", "ManagementDesk", "AgentWire", "DeviceModel", "DeviceStore",
            "InstalledApps", "LocalSchedule", "PushModel", "RequestScheduling",
        ]),
    tests(
        "Device", "PresentationPlanning",
        [
            "DeviceTestSupport", "PresentationPlanning", "Attachments", "InstalledApps", "DeviceModel", "AgentWire",
            "PushModel",
        ]),
    tests(
        "Device", "AgentEngine",
        [
            "DeviceTestSupport", "AgentEngine", "PushModel", "AgentWire", "LocalSchedule", "DeviceModel", "DevicePorts",
            "DeviceStore",
            "AppConnections", "InstalledApps", "AppConversation", "RequestScheduling", "PresentationPlanning",
            "ManagementDesk", "PushEncryption", "ServiceExtensions", nioCore, nioEmbedded, logging,
        ]),
    tests(
        "Device", "AgentCore",
        [
            "DeviceTestSupport", "PresentationPlanning", "AgentCore", "AgentEngine", "DeviceModel", "DevicePorts",
            "DeviceStore",
            "DevicePrograms",
            "Attachments", "AppConnections", "InstalledApps", "DeviceLink", "AgentWire", "Machine", "PushModel",
            "DeviceSession", "LocalSchedule", "LocalZones", "StatementLog", "PowerCut", "PushEncryption",
            "AppConversation", "ServiceExtensions", "AppHost", "Firebase", "_Testing_UIKit", grdb, nioCore, nioPosix,
            nioEmbedded, logging,
        ]),
    tests(
        "Device", "RequestScheduling",
        ["PushModel", "RequestScheduling", "AgentWire", "LocalSchedule", "LocalZones", "DeviceModel", "DevicePorts"]),
    tests(
        "Device", "ServiceExtensions",
        [
            "DeviceTestSupport", "ServiceExtensions", "AppConnections", "MediaFetching", "OutboundAddresses",
            nioEmbedded,
            "Attachments", "AgentWire", "DeviceModel", "Machine", "PushModel",
        ]),
    tests("Device", "MessageBus", ["MessageBus", "Machine"]),
    tests(
        "Device", "SystemClock",
        ["PushModel", "SystemClock", "DevicePorts", "CLinux", "Machine", "LocalSchedule", "MessageBus", logging]),
    tests("Device", "Positions", ["Positions", "DevicePorts", "Machine"]),
    tests("Device", "Desktop", ["Desktop", "DeviceModel", "DevicePorts", "PushModel", logging]),
    tests("Device", "WindowFocus", ["WindowFocus", "DevicePorts", "CXCB"]),
    tests(
        "Server", "FCMEndpoint",
        [
            "FCMEndpoint", "TopicEndpoint", "FCMWire", "ControlHTTP", "MemberCentre", "RegisterCore", "ServerCore",
            "StoreMemory", "WebPushWire", "HTTPWire", "PushEncryption",
            "APNsWire", "Mailbox", "PushModel", crypto, cryptoExtras, hummingbird, nioCore, logging,
        ]),
    tests(
        "Server", "ControlHTTP",
        ["ControlHTTP", "ConnectionAdmission", "PushModel", hummingbird, nioCore, nioEmbedded, logging]),
    tests("Transport", "Observability", ["Observability", coreMetrics, logging]),
    tests(
        "Server", "FCMEnrolment", ["FCMEnrolment", "RegisterCore", "PushEncryption", "PushModel", "WebPushWire"]),
    tests("Server", "Reports", ["Reports", "ControlHTTP", "PushModel"]),
    tests("Wire", "FlutterWire", ["FlutterWire"]),
    tests("Device", "Flutter", ["Flutter", "FlutterWire", "AppHost", "UIKit", "_Testing_UIKit"]),
    tests("Device", "AldabaFlutterPush", ["AldabaFlutterPush", "Flutter", "UIKit", "_Testing_UIKit"]),
    tests("Server", "MediaStore", ["MediaStore", "MediaFormat", "Machine", "PushModel"]),
    tests(
        "Server", "ControlAPI",
        [
            "DeviceEnrolment", "ControlAPI", "ControlHTTP", "MediaStore", "RegisterCore", "ServerCore", "PushModel",
            "MCSWire",
            "Observability",
            "StoreMemory", "APNsWire", "Mailbox", "PushEncryption", asyncHTTPClient, hummingbird, protobuf, nioCore,
            nioEmbedded, nioPosix,
        ]),
    tests(
        "Examples", "Course",
        ["Course", "UserNotifications", "UIKit", "_Testing_UIKit", "CoreLocation", "AppHost", "AgentWire"]),
    tests(
        "Examples", "ReceiveGuide",
        [
            "AgentDouble", "ReceiveGuide", "Firebase", "UserNotifications", "UIKit", "_Testing_UIKit", "AppHost",
            "AgentWire",
        ]),
    tests("Command", "Monitoring", ["Monitoring", "Observability", "AgentWire"]),
    tests("Command", "Supervision", ["Supervision", "CommandCore", "Machine", logging]),
    tests("Command", "RelayCommands", ["RelayCommands", "RelayWire", "CommandCore"]),
    tests(
        "Command", "CommandCore",
        [
            "CommandCore", "RegisterCommands", "HTTPWire", "APNsWire", "FCMWire", "AgentWire", "PushModel",
            "RegisterCore", "MemberCentre", "Mailbox", "SQLiteFiles", "StoreHub", "StoreSQLite", crypto, x509,
            argumentParser,
        ]),
]

let package = Package(
    name: "aldaba",
    products: [
        .executable(name: "aldaba", targets: ["aldaba"])
    ],
    traits: [
        .trait(
            name: "Programs", description: "The server, the agent and the command, with all that they are built on."),
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
    let withViews = ["UIKit", "UserNotificationsUI", "Flutter", "FirebaseMessaging", "FirebaseInstanceID", "Firebase"]
    package.products += withViews.map { .library(name: $0, targets: [$0, "_Testing_UIKit"]) }
    package.products += [
        "UserNotifications", "AldabaRichPush", "AldabaFlutterPush", "FirebaseCore", "ConnectedDevices", "RelayWire",
        "CoreLocation",
        "MobileCoreServices", "AppHost",
        "AgentWire",
    ].map {
        .library(name: $0, targets: [$0])
    }
#endif
