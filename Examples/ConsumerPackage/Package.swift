// swift-tools-version:6.2
import PackageDescription

// A package outside of Aldaba whose code was written for iOS: it compiles with its import lines unchanged.
let package = Package(
    name: "Consumer",
    dependencies: [.package(name: "aldaba", path: "../..")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [
                .product(name: "UserNotifications", package: "aldaba"),
                .product(name: "UIKit", package: "aldaba"),
                .product(name: "CoreLocation", package: "aldaba"),
            ])
    ]
)
