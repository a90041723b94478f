import ArgumentParser
import Foundation

/// The package of a new app: its files' paths and texts. No I/O.
package struct AppTemplate: Sendable {
    /// The purpose for which a package is written.
    package enum Kind: String, CaseIterable, EnumerableFlag, Sendable {
        /// The native part of a cross-platform app.
        case flutter
        /// An app with a service extension.
        case `extension`
        /// An app that receives with FirebaseMessaging.
        case firebase
        /// An app service for the person's other devices.
        case relay

        /// The help of the flag.
        package static func help(for kind: Kind) -> ArgumentHelp? {
            switch kind {
            case .flutter: "The native part of a cross-platform app, over Flutter's channels."
            case .extension: "With a service extension, which shows pictures."
            case .firebase: "With FirebaseMessaging and its GoogleService-Info.plist."
            case .relay: "An app service that the person's other devices call."
            }
        }
    }

    /// A file of the package.
    package struct File: Sendable, Hashable {
        /// The path in the package's folder.
        package var path: String
        /// The content.
        package var text: String
    }

    /// The package's and the program's name.
    package var name: String
    /// The bundle id.
    package var id: String
    /// The team that owns the app.
    package var team: String
    /// The purpose; `nil` for an app of notifications alone.
    package var kind: Kind?
    /// The absolute path of the package's folder.
    package var folder: String
    /// The path of Aldaba's source, on which the package depends.
    package var source: String

    /// The template of an app.
    package init(name: String, id: String, team: String, kind: Kind?, folder: String, source: String) {
        self.name = name
        self.id = id
        self.team = team
        self.kind = kind
        self.folder = folder
        self.source = source
    }

    /// The id of an app whose author names none.
    package static func standardID(of name: String) -> String { "com.example.\(name.lowercased())" }

    /// Why a package and its program cannot have this name; `nil` where they can.
    package static func fault(inName name: String) -> String? {
        let letters = name.utf8
        guard let first = letters.first, letters.count <= 64, isLetter(first),
            letters.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F })
        else {
            return "\"\(name)\" cannot name a program in Swift; it is a letter, then letters, digits and _, at most 64"
        }
        return modules.contains(name) ? "\"\(name)\" is the name of a module that apps import; take another" : nil
    }

    /// The folder at or above a path whose package is Aldaba's; `nil` where there is none.
    ///
    /// - Parameter read: A file's text, `nil` where there is none.
    package static func source(above path: String, read: (String) -> String?) -> String? {
        var folder = URL(fileURLWithPath: path)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let manifest = read(folder.appendingPathComponent("Package.swift").path)
            if manifest?.contains("let package = Package(\n    name: \"aldaba\"") ?? false { return folder.path }
        }
        return nil
    }

    /// The package's files.
    package var files: [File] {
        var files = [
            File(path: "Package.swift", text: packageManifest), File(path: "manifest.json", text: appManifest),
            File(path: "README.md", text: page), File(path: ".gitignore", text: ".build/\n"),
        ]
        switch kind {
        case nil: files.append(File(path: "Sources/\(name)/AppDelegate.swift", text: Self.appDelegate))
        case .extension:
            files.append(File(path: "Sources/\(name)/AppDelegate.swift", text: Self.appDelegate))
            files.append(File(path: "Sources/\(name)Service/NotificationService.swift", text: Self.notificationService))
        case .firebase: files.append(File(path: "Sources/\(name)/AppDelegate.swift", text: Self.firebaseDelegate))
        case .flutter:
            files.append(File(path: "Sources/\(name)/AppDelegate.swift", text: flutterDelegate))
            files.append(File(path: "Sources/\(name)/GeneratedPluginRegistrant.swift", text: Self.pluginRegistrant))
        case .relay: files.append(File(path: "Sources/\(name)/main.swift", text: relayProgram))
        }
        return files
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & ~0x20) }

    /// The modules that a program's own would hide, or be taken for.
    private static let modules: Set<String> = [
        "AgentProtocol", "AldabaFlutterPush", "AldabaRichPush", "AppHost", "BackgroundTasks", "CallKit",
        "ConnectedDevices",
        "CoreLocation", "CoreValues", "DeviceChannel", "Dispatch", "Firebase", "FirebaseCore", "FirebaseInstanceID",
        "FirebaseMessaging", "Flutter", "FlutterMacOS", "Foundation", "Glibc", "MobileCoreServices", "OSLog",
        "Networking", "Platform", "PushCore", "PushKit", "RelayProtocol", "Scheduling", "Swift", "UIKit",
        "UserNotifications", "UserNotificationsUI",
        "XCTest", "Testing", "aldaba",
    ]
}
