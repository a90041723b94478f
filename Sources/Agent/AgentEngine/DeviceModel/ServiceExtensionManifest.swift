import AgentProtocol
import Foundation
import PushCore

/// The manifest of an app's service extension: the member `serviceExtension` of the app's manifest.
package struct ServiceExtensionManifest: Codable, Hashable, Sendable {
    /// The extension's bundle id, which begins with the app's: `com.example.todo.Service`.
    package var id: String
    /// The extension's version, for the agent's counts; empty for none.
    package var version: String
    /// Absolute path of the program, which the agent starts.
    package var executable: String
    /// The program's arguments, without its name.
    package var arguments: [String]
    /// Variables that are set when it is started.
    package var environment: [String: String]
    /// The class that changes notifications, `Module.Class`, in place of the one that the program's main function
    /// names.
    package var principalClass: String?

    /// Takes the values as they are; reading the app's manifest is what checks them.
    package init(
        id: String, version: String = "", executable: String, arguments: [String] = [],
        environment: [String: String] = [:], principalClass: String? = nil
    ) {
        self.id = id
        self.version = version
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.principalClass = principalClass
    }

    private enum Key: String, CodingKey, CaseIterable {
        case id, version, executable, arguments, environment, principalClass
    }

    /// How long a version may be, in bytes.
    static let longestVersion = 64

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        id = try members.decode(String.self, forKey: .id)
        version = try members.decodeIfPresent(String.self, forKey: .version) ?? ""
        executable = try members.decode(String.self, forKey: .executable)
        arguments = try members.decodeIfPresent([String].self, forKey: .arguments) ?? []
        environment = try members.decodeIfPresent([String: String].self, forKey: .environment) ?? [:]
        principalClass = try members.decodeIfPresent(String.self, forKey: .principalClass)
    }

    /// A key of this member that the text has and that is unknown.
    static func unknownKey(in members: [String: Any]) -> String? {
        members.keys.sorted().first { Key(rawValue: $0) == nil }
    }

    /// The keys that this member may have, for people.
    static var keys: String { Key.allCases.map(\.rawValue).joined(separator: ", ") }

    /// The fault in this extension of an app; `nil` where there is none.
    func fault(in app: BundleID) -> AppManifestError? {
        func fault(_ key: Key, _ problem: String) -> AppManifestError {
            AppManifestError(key: "serviceExtension.\(key.rawValue)", problem: problem)
        }
        guard Topic.hasShape(id), id.hasPrefix(app.rawValue + ".") else {
            return fault(.id, "it must be a bundle id that begins with the app's, such as \(app).Service")
        }
        guard version.utf8.count <= Self.longestVersion, version.allSatisfy({ $0.isASCII && !$0.isWhitespace }) else {
            return fault(
                .version, "it must have at most \(Self.longestVersion) characters without blanks, such as 1.4.2")
        }
        guard executable.hasPrefix("/"), !executable.utf8.contains(0) else {
            return fault(.executable, "it must be an absolute path")
        }
        guard environment.keys.allSatisfy({ !$0.isEmpty && !$0.contains("=") }),
            (Array(environment.keys) + Array(environment.values) + arguments).allSatisfy({ !$0.utf8.contains(0) })
        else {
            return fault(.environment, "names must not be empty nor contain =, and nothing may contain NUL")
        }
        guard principalClass?.utf8.contains(0) != true else {
            return fault(.principalClass, "it must be a class's name, such as TodoService.NotificationService")
        }
        return nil
    }
}

/// The folders that apps of one maker and their extensions share.
package enum ApplicationGroup {
    /// Whether a text may name one: `group.` and a bundle id. No part of it leads out of the folder.
    package static func hasShape(_ name: String) -> Bool { name.hasPrefix("group.") && Topic.hasShape(name) }
}
