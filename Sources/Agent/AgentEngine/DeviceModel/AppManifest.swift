import AgentProtocol
import Foundation
import PushCore

/// The manifest of an installed app: a JSON file in the agent's apps folder.
package struct AppManifest: Codable, Hashable, Sendable {
    /// The bundle id, which is the app's topic.
    package var id: BundleID
    /// The name that people see.
    package var name: String
    /// The team that owns the app, ten characters.
    package var team: String
    /// The absolute path of the program; a process that claims to be this app must run it.
    package var executable: String
    /// The program's arguments when the agent starts it.
    package var arguments: [String]
    /// Variables that are set when the agent starts the app.
    package var environment: [String: String]
    /// An icon's name or absolute path.
    package var icon: String?
    /// The name of the app's desktop file without `.desktop`; the id where it is absent.
    package var desktopEntry: String?
    /// Whether the session bus starts the app when a person taps (`DBusActivatable` of its desktop file).
    package var dbusActivatable = false
    /// Absolute path of the folder with the app's string tables and sounds.
    package var resources: String?
    /// Whether a process proves that it is this app by the secret beside its manifest, and not by the program that it
    /// runs: for scripts, whose program is an interpreter.
    package var provesBySecret = false
    /// The authorization for notifications: the person's choice, unless the manifest fixes it.
    package var authorization: Authorization
    /// The condition under which a connected app counts as active; as the app declares, unless the manifest sets
    /// another.
    package var lifecycle: Lifecycle
    /// The process that opens payloads encrypted to the app on this device; the agent, unless the manifest names
    /// another.
    package var encryptedPayloads = PayloadDecryptor.agent
    /// The reasons for which the app may be woken; ``remoteNotifications`` is the only mode there is.
    package var backgroundModes: [String]
    /// The program that changes its notifications before they are shown; `nil` where there is none.
    package var serviceExtension: ServiceExtensionManifest?
    /// The groups whose folders the app and its extension share, such as `group.com.example.todo`.
    package var applicationGroups: [String] = []
    /// Whether files for its notifications may also be fetched by `http`, which others can read and change in transit.
    package var allowsHTTP = false
    /// The schemes of the app's own addresses, in lower case; what it opens of them is given to itself.
    package var schemes: [String] = []
    /// The texts of its Live Activities, by the names of their attributes' types.
    package var liveActivities: [String: LiveActivityTexts] = [:]

    /// Whether the app may show notifications.
    package enum Authorization: String, Codable, Sendable, CaseIterable {
        /// The person is asked, once.
        case ask
        /// A policy, for kiosks: the app may notify, and the person is not asked.
        case granted
        /// A policy: the app shows nothing, and the person is not asked.
        case denied
    }

    /// When a connected app counts as active.
    package enum Lifecycle: String, Codable, Sendable, CaseIterable {
        /// When a person or a tap started it, and from then on as it declares. In the background when it was started
        /// for a notification without visible content.
        case declared
        /// Whenever it is connected: for kiosks.
        case always
        /// While a window of its process, or of one that it started, has the focus; the app's own declaration counts
        /// until the focus next changes.
        case focus
    }

    /// The process that opens encrypted payloads.
    package enum PayloadDecryptor: String, Codable, Sendable, CaseIterable {
        /// The agent, before anything is shown. It makes the keys, and its registration publishes them.
        case agent
        /// The app's service extension, with keys of its own: the agent publishes none and passes payloads on as they
        /// are.
        case `extension`
    }

    /// The background mode of apps that are woken for notifications without visible content (`content-available`).
    package static let remoteNotifications = "remote-notification"
    /// The background mode of apps that are started for incoming calls (`voip`).
    package static let calls = "voip"

    /// The app under whose name the terminal's own notifications appear.
    package static let terminalID: BundleID = "aldaba.notify"

    /// Takes the values as they are; ``read(_:)`` is what checks them.
    package init(
        id: BundleID, name: String, team: String, executable: String, arguments: [String] = [],
        environment: [String: String] = [:], icon: String? = nil, authorization: Authorization = .ask,
        lifecycle: Lifecycle = .declared, backgroundModes: [String] = []
    ) {
        self.id = id
        self.name = name
        self.team = team
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.icon = icon
        self.authorization = authorization
        self.lifecycle = lifecycle
        self.backgroundModes = backgroundModes
    }

    /// The name that the app owns on the session bus where it is ``dbusActivatable``: that of its desktop file.
    package var busName: String { desktopEntry ?? id.rawValue }

    private enum Key: String, CodingKey, CaseIterable {
        case id, name, team, executable, arguments, environment, icon, desktopEntry, resources, provesBySecret
        case authorization, lifecycle, backgroundModes, dbusActivatable, encryptedPayloads
        case serviceExtension, applicationGroups, allowsHTTP, schemes, liveActivities
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        id = try members.decode(BundleID.self, forKey: .id)
        name = try members.decodeIfPresent(String.self, forKey: .name) ?? id.rawValue
        team = try members.decode(String.self, forKey: .team)
        executable = try members.decode(String.self, forKey: .executable)
        arguments = try members.decodeIfPresent([String].self, forKey: .arguments) ?? []
        environment = try members.decodeIfPresent([String: String].self, forKey: .environment) ?? [:]
        icon = try members.decodeIfPresent(String.self, forKey: .icon)
        desktopEntry = try members.decodeIfPresent(String.self, forKey: .desktopEntry)
        dbusActivatable = try members.decodeIfPresent(Bool.self, forKey: .dbusActivatable) ?? false
        resources = try members.decodeIfPresent(String.self, forKey: .resources)
        provesBySecret = try members.decodeIfPresent(Bool.self, forKey: .provesBySecret) ?? false
        authorization = try members.decodeIfPresent(Authorization.self, forKey: .authorization) ?? .ask
        lifecycle = try members.decodeIfPresent(Lifecycle.self, forKey: .lifecycle) ?? .declared
        encryptedPayloads =
            try members.decodeIfPresent(PayloadDecryptor.self, forKey: .encryptedPayloads) ?? .agent
        backgroundModes = try members.decodeIfPresent([String].self, forKey: .backgroundModes) ?? []
        serviceExtension = try members.decodeIfPresent(ServiceExtensionManifest.self, forKey: .serviceExtension)
        applicationGroups = try members.decodeIfPresent([String].self, forKey: .applicationGroups) ?? []
        allowsHTTP = try members.decodeIfPresent(Bool.self, forKey: .allowsHTTP) ?? false
        schemes = try members.decodeIfPresent([String].self, forKey: .schemes) ?? []
        liveActivities =
            try members.decodeIfPresent([String: LiveActivityTexts].self, forKey: .liveActivities) ?? [:]
    }

    /// Reads and checks a manifest's JSON text.
    ///
    /// - Throws: ``AppManifestError``, which names the key, what is wrong with it and what would be right.
    package static func read(_ text: Data) throws(AppManifestError) -> AppManifest {
        try checkKeys(of: text)
        let manifest: AppManifest
        do {
            manifest = try JSONDecoder().decode(AppManifest.self, from: text)
        } catch let error as DecodingError {
            throw AppManifestError(error)
        } catch {
            throw AppManifestError(key: "", problem: "it cannot be read as JSON")
        }
        try manifest.check()
        return manifest
    }

    /// Whether an address has a scheme of the app's own.
    package func opens(_ address: String) -> Bool {
        guard let colon = address.firstIndex(of: ":") else { return false }
        return schemes.contains(address[..<colon].lowercased())
    }

    /// Whether a text is a scheme (RFC 3986, section 3.1) in lower case, and none of the web's.
    private static func isOwnScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (97...122).contains(first), !["http", "https"].contains(text) else {
            return false
        }
        return text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "+-.".utf8.contains($0) }
    }

    private static func checkKeys(of text: Data) throws(AppManifestError) {
        guard let members = try? JSONSerialization.jsonObject(with: text) as? [String: Any] else { return }
        if let unknown = members.keys.sorted().first(where: { Key(rawValue: $0) == nil }) {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw AppManifestError(key: unknown, problem: "there is no such key; there are: \(known)")
        }
        guard let own = members[Key.serviceExtension.rawValue] as? [String: Any],
            let unknown = ServiceExtensionManifest.unknownKey(in: own)
        else { return }
        throw AppManifestError(
            key: "serviceExtension.\(unknown)",
            problem: "there is no such key; there are: \(ServiceExtensionManifest.keys)")
    }

    private func check() throws(AppManifestError) {
        guard Topic.hasShape(id.rawValue) else {
            throw AppManifestError(key: "id", problem: "it must be a bundle id such as com.example.todo")
        }
        guard !Topic.isReserved(id.rawValue) else {
            throw AppManifestError(
                key: "id",
                problem:
                    "\(id) cannot name an app, since `web-push` and names that begin with `aldaba.` are the program's own; take one "
                    + "such as com.example.todo")
        }
        guard backgroundModes.allSatisfy({ $0 == Self.remoteNotifications || $0 == Self.calls }) else {
            throw AppManifestError(
                key: "backgroundModes", problem: "the modes are \(Self.remoteNotifications) and \(Self.calls)")
        }
        if let fault = serviceExtension?.fault(in: id) { throw fault }
        guard applicationGroups.allSatisfy(ApplicationGroup.hasShape) else {
            throw AppManifestError(
                key: "applicationGroups", problem: "each must be `group.` and a bundle id: group.com.example.todo")
        }
        guard schemes.allSatisfy(Self.isOwnScheme) else {
            throw AppManifestError(
                key: "schemes",
                problem: "each must be a scheme of the app's own, such as todo: a-z, then a-z, 0-9, +, - and .")
        }
        guard TeamID.hasShape(team) else {
            throw AppManifestError(key: "team", problem: "it must be ten characters A-Z and 0-9")
        }
        guard executable.hasPrefix("/"), !executable.utf8.contains(0) else {
            throw AppManifestError(key: "executable", problem: "it must be an absolute path")
        }
        guard resources?.hasPrefix("/") ?? true else {
            throw AppManifestError(key: "resources", problem: "it must be an absolute path")
        }
        guard !dbusActivatable || BusName.isValid(busName) else {
            let key = desktopEntry == nil ? "id" : "desktopEntry"
            throw AppManifestError(
                key: key,
                problem: "with dbusActivatable it must be a bus name: two or more words of A-Z, a-z, 0-9, _ and -, "
                    + "none beginning with a digit, with dots between them")
        }
        guard environment.keys.allSatisfy({ !$0.isEmpty && !$0.contains("=") }),
            (Array(environment.keys) + Array(environment.values) + arguments).allSatisfy({ !$0.utf8.contains(0) })
        else {
            throw AppManifestError(
                key: "environment", problem: "names must not be empty nor contain =, and nothing may contain NUL")
        }
    }
}
