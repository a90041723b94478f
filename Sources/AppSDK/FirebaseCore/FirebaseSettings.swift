import AppHost
import Foundation

/// The switches that an app sets in its files (this target's README lists the keys and the paths).
package struct FirebaseSettings: Hashable, Sendable {
    /// Whether FirebaseMessaging receives the events of the app's handlers.
    package var isProxyEnabled = true
    /// Whether the registration token is asked for without the app's asking.
    package var isAutoInitEnabled = true
    /// Whether data messages go to the delegate; `nil` where the files have no value.
    package var usesMessagingDelegate: Bool?
    /// Whether the direct channel stays open in the background.
    package var opensInBackground = false

    /// The settings of an app whose files have no switches.
    package init() {}

    /// Reads files, the first of which that has a key decides.
    package init(files: [[String: Any]]) {
        func flag(_ key: String) -> Bool? {
            for file in files {
                if let value = file[key] as? Bool { return value }
                if let text = file[key] as? String { return ["yes", "true", "1"].contains(text.lowercased()) }
            }
            return nil
        }
        isProxyEnabled = flag("FirebaseAppDelegateProxyEnabled") ?? true
        isAutoInitEnabled = flag("FirebaseMessagingAutoInitEnabled") ?? true
        usesMessagingDelegate = flag("FirebaseMessagingUseMessagingDelegateForDirectChannel")
        opensInBackground = flag("FirebaseMessagingDirectChannelInBackground") ?? false
    }

    /// The settings of this app.
    package static func current() -> FirebaseSettings { FirebaseSettings(files: AppFiles.settings) }
}

/// The files of this app.
enum AppFiles {
    private static let executable =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    private static var folder: String { URL(fileURLWithPath: executable).deletingLastPathComponent().path }
    private static var ours: String { executable + ".firebase.json" }

    /// The paths where the options may be, in the order in which they are tried.
    static var options: [String] {
        let name = "GoogleService-Info.plist"
        let inBundle = Bundle.main.path(forResource: "GoogleService-Info", ofType: "plist")
        return ([inBundle, folder + "/" + name] + resourceFolders.map { $0 + "/" + name }).compactMap(\.self) + [ours]
    }

    /// The folders with the resources of the program's target that SwiftPM puts beside it: `PACKAGE_PROGRAM.resources`.
    private static var resourceFolders: [String] {
        let suffix = "_\(URL(fileURLWithPath: executable).lastPathComponent).resources"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted().map { folder + "/" + $0 }
    }

    /// The contents of the files with switches; the first file that has a switch decides.
    static var settings: [[String: Any]] {
        [Bundle.main.infoDictionary ?? [:]]
            + [folder + "/Info.plist", ours].compactMap {
                FileManager.default.contents(atPath: $0).flatMap(members(of:))
            }
    }

    /// The members of a property list's dictionary, or of a JSON object.
    static func members(of data: Data) -> [String: Any]? {
        if let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil) {
            return list as? [String: Any]
        }
        return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
    }
}
