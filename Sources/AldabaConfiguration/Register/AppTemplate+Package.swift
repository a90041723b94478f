import Foundation

// The package around a new app's program: manifests and page.
extension AppTemplate {
    /// The products of Aldaba's package that the program imports.
    private var products: [String] {
        switch kind {
        case nil, .extension: ["UserNotifications", "UIKit"]
        case .firebase: ["Firebase", "UserNotifications", "UIKit"]
        case .flutter: ["Flutter", "AldabaFlutterPush"]
        case .relay: ["ConnectedDevices"]
        }
    }

    private static func products(_ names: [String]) -> String {
        "[\n" + names.map { "                .product(name: \"\($0)\", package: \"aldaba\"),\n" }.joined()
            + "            ]"
    }

    private static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The arguments of the program's target beside its name and dependencies.
    private var settings: String {
        let version = "                .swiftLanguageMode(.v5),\n"
        switch kind {
        case .firebase:
            return """
                ,
                            resources: [.copy("GoogleService-Info.plist")],
                            swiftSettings: [.swiftLanguageMode(.v5)]
                """
        case .flutter:
            return """
                ,
                            swiftSettings: [
                \(version)                // These stand for the bridging header by which each file of such an app on iOS imports Flutter.
                                .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "Flutter"]),
                            ]
                """
        case nil, .extension, .relay: return ",\n            swiftSettings: [.swiftLanguageMode(.v5)]"
        }
    }

    /// `Package.swift`.
    var packageManifest: String {
        let service =
            kind == .extension
            ? """
            \n        .executableTarget(
                        name: "\(name)Service",
                        dependencies: \(Self.products(["AldabaRichPush"])),
                        swiftSettings: [.swiftLanguageMode(.v5)]
                    ),
            """ : ""
        return """
            // swift-tools-version:6.2
            import PackageDescription

            let package = Package(
                name: "\(name)",
                // Without its server, agent and command, and so without the packages that they are built on.
                dependencies: [.package(name: "aldaba", path: \(Self.literal(source)), traits: [])],
                targets: [
                    .executableTarget(
                        name: "\(name)",
                        dependencies: \(Self.products(products))\(settings)
                    ),\(service)
                ]
            )

            """
    }

    private func program(_ name: String) -> String { "\(folder)/.build/debug/\(name)" }

    /// The app's manifest for the agent.
    var appManifest: String {
        var members: [String: Any] = [
            "id": id, "name": name, "team": team, "executable": program(name),
            "backgroundModes": ["remote-notification"],
        ]
        if kind == .extension {
            members["serviceExtension"] = [
                "id": "\(id).Service", "version": "1.0", "executable": program("\(name)Service"),
            ]
        }
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = try? JSONSerialization.data(withJSONObject: members, options: options)
        return String(decoding: text ?? Data(), as: UTF8.self) + "\n"
    }

    /// The commands that build, install and run the app.
    package var commands: [String] {
        [
            ". \"${XDG_STATE_HOME:-$HOME/.local/state}/aldaba/environment\"", "swift build",
            "aldaba app create \(id) --team \(team) --name \(name)", "aldaba agent app install manifest.json",
            "ALDABA_APP_ID=\(id) ALDABA_AGENT_SOCKET=$SOCKET .build/debug/\(name)",
        ]
    }

    /// The command that shows that the app works.
    private var trial: String {
        switch kind {
        case nil: "    aldaba send --app \(id) --title Hello"
        case .extension: "    aldaba send --app \(id) --title Hello --image photo.jpg"
        case .firebase:
            "    aldaba send --app \(id) --title Hello\n\n"
                + "[Receive with FirebaseMessaging](\(source)/Docs/receive-with-firebase.md) has the other messages."
        case .flutter:
            """
                aldaba send --app \(id) --title Hello

            The Dart part connects to `$XDG_RUNTIME_DIR/aldaba/flutter/\(id).sock`.
            [Cross-platform apps](\(source)/Docs/cross-platform-app.md) has the calls. Services of the app's own need no line
            `import Flutter`: put their files into `Sources/\(name)`, and use them in `AppDelegate.swift`.
            """
        case .relay: "    aldaba relay call \(id)/echo --message '{\"text\": \"Hello\"}' --on DEVICE"
        }
    }

    /// `README.md`.
    var page: String {
        """
        # \(name)
        An app for Linux with the code of iOS. While `aldaba up` runs in another terminal, build it, add it to the server's register,
        install it with the agent, and run it. The first line puts `aldaba` on PATH and sets `SOCKET`, the agent's socket.

        \(commands.map { "    " + $0 }.joined(separator: "\n"))

        Try it from \(kind == .relay ? "another device" : "another terminal"):

        \(trial)

        `manifest.json` names the program by its absolute path. If the folder moves, change that and install the manifest again.

        """
    }
}
