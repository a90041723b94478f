// swift-tools-version:6.2
import PackageDescription

let frameworks: [Target.Dependency] = [
    "UserNotifications", "UserNotificationsUI", "UIKit", "CoreLocation", "MobileCoreServices", "Firebase",
    "FirebaseCore", "FirebaseInstanceID", "FirebaseMessaging", "BackgroundTasks", "OSLog", "FlutterMacOS",
].map { .product(name: $0, package: "aldaba") }

let richPush: Target.Dependency = .product(name: "AldabaRichPush", package: "aldaba")

// A package outside of Aldaba whose code was written for iOS: it compiles with its import lines unchanged.
let package = Package(
    name: "Consumer",
    // Without its programs, and so without the packages that they are built on.
    dependencies: [.package(name: "aldaba", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "Consumer", dependencies: frameworks, swiftSettings: [.swiftLanguageMode(.v6)]),
        // A service extension of one class, which shows what a payload names.
        .executableTarget(name: "Pictures", dependencies: [richPush], swiftSettings: [.swiftLanguageMode(.v6)]),
        // In the style of earlier years: completion handlers, Swift 5, deprecated names.
        .target(name: "Legacy", dependencies: frameworks, swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
