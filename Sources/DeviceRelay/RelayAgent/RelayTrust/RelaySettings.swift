import CoreValues
import Foundation
import RelayProtocol

/// The relay settings of this device: its account, its names, and the access rights of other devices. They are kept in
/// a file that only its owner may read.
package struct RelaySettings: Codable, Hashable, Sendable {
    /// The name that other devices show.
    package var name: String
    /// The kind of device, for display.
    package var kind: String
    /// The account's key; `nil` while the device belongs to no account.
    package var account: AccountKey?
    /// Schemes of addresses that may be opened here, beside `http` and `https` and those that apps here open
    /// themselves.
    package var schemes: Set<String> = []
    /// The access rights to services that need a grant.
    package var grants: Set<Grant> = []
    /// When those grants end that do not last, in milliseconds since 1970.
    package var grantEnds: [Grant: Int64]?
    /// The grants that count only while the screen is unlocked.
    package var unlockedGrants: Set<Grant>?
    /// The access rights that the user denied when a device asked for them.
    package var denials: Set<Grant>?
    /// The user's devices, as they last reported themselves to each other.
    package var list: RelayDeviceList?
    /// The device's own key, by which others seal what they say to it; drawn with the first run.
    package var deviceKey: [UInt8]?
    /// The folder for files of other devices; `nil` for a folder beside this file.
    package var filesFolder: String?
    /// The folder whose photos other devices may fetch.
    package var photosFolder: String?
    /// Programs that other devices may run, by name.
    package var programs: [String: [String]]?
    /// The channel that wakes this device while it has no session; `nil` for none.
    package var wake: RelayWakeChannel?
    /// After how many seconds without a message a connection between apps ends, 0 for never; `nil` for what is usual.
    package var connectionIdle: Int64?
    /// How many seconds a connection between apps outlives a loss of connectivity; `nil` for the default.
    package var connectionGrace: Int64?
    /// The offers of apps when they last ran, by bundle id: such an app is started when another device calls it.
    package var offers: [String: RememberedOffer]?

    /// Whether the person has set up what a service of the agent's own needs.
    func offersOwnService(_ service: String) -> Bool {
        switch service {
        case "photos": photosFolder != nil
        case "run": programs != nil
        default: true
        }
    }

    /// The offer of an app when it last ran.
    package struct RememberedOffer: Codable, Hashable, Sendable {
        /// The app's name for people.
        package var name: String
        /// The services that were not off, with the access rights to each.
        package var services: [String: String]
        /// The schemes of the addresses that it opens.
        package var schemes: [String]
        /// Further attributes that the app published.
        package var attributes: [String: String]

        /// Creates an instance from its properties.
        package init(name: String, services: [String: String], schemes: [String], attributes: [String: String]) {
            self.name = name
            self.services = services
            self.schemes = schemes
            self.attributes = attributes
        }
    }

    /// A device may call a service.
    package struct Grant: Codable, Hashable, Sendable {
        /// The device's id; `*` for any of the account.
        package var device: String
        /// The app's bundle id.
        package var app: String
        /// The service's name.
        package var service: String

        /// Names a grant.
        package init(device: String, app: String, service: String) {
            self.device = device
            self.app = app
            self.service = service
        }
    }

    /// The most bytes of a device's name.
    package static let longestName = 255

    /// Why a text cannot be a device's name; `nil` where it can.
    package static func fault(ofName name: String) -> String? {
        guard name.utf8.count <= longestName else {
            return "the name has \(name.utf8.count) bytes; at most \(longestName) are allowed"
        }
        let isShown = name.unicodeScalars.contains { !$0.properties.isWhitespace }
        let isControlled = name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isShown && !isControlled ? nil : "a name is one line that shows something"
    }

    /// Settings of a device.
    package init(name: String, kind: String = "desktop", account: AccountKey? = nil) {
        self.name = name
        self.kind = kind
        self.account = account
    }

    /// Grants something, or grants it no more; a denial of it ends with either.
    ///
    /// - Parameters:
    ///   - end: When the grant ends; `nil` where it lasts.
    ///   - needsUnlocked: Whether it counts only while the screen is unlocked.
    package mutating func decide(
        _ grant: Grant, isGranted: Bool, until end: Timestamp? = nil, needsUnlocked: Bool = false
    ) {
        if isGranted { grants.insert(grant) } else { grants.remove(grant) }
        set(isGranted ? end?.rawValue : nil, asEndOf: grant)
        set(isGranted && needsUnlocked, asUnlockedOnly: grant)
        denials?.remove(grant)
    }

    /// Denies something.
    package mutating func deny(_ denial: Grant) {
        grants.remove(denial)
        set(nil, asEndOf: denial)
        set(false, asUnlockedOnly: denial)
        denials = (denials ?? []).union([denial])
    }

    /// Takes back all that was granted to a device, and denied to it.
    package mutating func forget(_ device: String) {
        grants = grants.filter { $0.device != device }
        denials = denials?.filter { $0.device != device }
        grantEnds = grantEnds?.filter { $0.key.device != device }
        unlockedGrants = unlockedGrants?.filter { $0.device != device }
    }

    /// The grants that have ended by an instant.
    package func endedGrants(at now: Timestamp) -> [Grant] {
        grantEnds?.filter { $0.value <= now.rawValue }.map(\.key) ?? []
    }

    private mutating func set(_ end: Int64?, asEndOf grant: Grant) {
        guard end != nil || grantEnds != nil else { return }
        grantEnds = (grantEnds ?? [:]).filter { $0.key != grant }.merging(end.map { [grant: $0] } ?? [:]) { $1 }
        if grantEnds?.isEmpty ?? false { grantEnds = nil }
    }

    private mutating func set(_ needsUnlocked: Bool, asUnlockedOnly grant: Grant) {
        guard needsUnlocked || unlockedGrants != nil else { return }
        unlockedGrants = (unlockedGrants ?? []).subtracting([grant]).union(needsUnlocked ? [grant] : [])
        if unlockedGrants?.isEmpty ?? false { unlockedGrants = nil }
    }

    /// Whether a device was denied a service. A rule for this device alone has precedence over a rule for all.
    package func isDenied(_ device: String, app: String, service: String) -> Bool {
        guard let denials else { return false }
        return isDeniedAlone(device, app: app, service: service)
            || denials.contains(Grant(device: "*", app: app, service: service))
                && !isGrantedAlone(device, app: app, service: service)
    }

    /// Whether exactly this denial was given.
    package func isDeniedAlone(_ device: String, app: String, service: String) -> Bool {
        denials?.contains(Grant(device: device, app: app, service: service)) ?? false
    }

    /// Whether exactly this grant was given: what is granted to all the person's devices is not granted to others'.
    package func isGrantedAlone(_ device: String, app: String, service: String) -> Bool {
        grants.contains(Grant(device: device, app: app, service: service))
    }

    /// Whether what a device was granted counts only while the screen is unlocked.
    ///
    /// - Parameter isGuests: Whether it is another person's, to whom nothing is granted that is granted to all.
    package func needsUnlocked(_ device: String, app: String, service: String, isGuests: Bool) -> Bool {
        guard let unlockedGrants else { return false }
        return (isGuests ? [device] : [device, "*"]).map { Grant(device: $0, app: app, service: service) }
            .filter(grants.contains).allSatisfy(unlockedGrants.contains)
    }

    /// Whether a device was granted a service.
    package func isGranted(_ device: String, app: String, service: String) -> Bool {
        grants.contains(Grant(device: device, app: app, service: service))
            || grants.contains(Grant(device: "*", app: app, service: service))
    }
}

// Neither a log nor a dump of what holds them shows the device's key; the account's hides itself.
extension RelaySettings: CustomReflectable {
    /// The settings, with `<redacted>` in place of the device's key.
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "kind": kind, "account": account as Any, "schemes": schemes, "grants": grants,
                "grantEnds": grantEnds as Any, "unlockedGrants": unlockedGrants as Any,
                "denials": denials as Any, "list": list as Any,
                "deviceKey": deviceKey.map { _ in "<redacted>" } as Any, "filesFolder": filesFolder as Any,
                "photosFolder": photosFolder as Any, "programs": programs as Any, "wake": wake as Any,
                "offers": offers as Any, "connectionIdle": connectionIdle as Any,
                "connectionGrace": connectionGrace as Any,
            ], displayStyle: .struct)
    }
}
