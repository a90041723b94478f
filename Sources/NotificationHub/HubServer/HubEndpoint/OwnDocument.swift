import HubProtocol
import PushCore

/// The members that documents of our own API may have. An unknown member is refused, since its setting would be ignored
/// silently.
///
/// Azure's API ignores unknown members, as its clients need.
enum OwnDocument {
    /// Refuses values that are no object, and unknown members.
    static func check(
        _ tree: JSONValue, at path: String = "", members known: [String]
    ) throws(InstallationError) {
        guard let members = tree.members else {
            throw InstallationError(path, "this is to be a JSON object with \(known.joined(separator: ", "))")
        }
        guard let unknown = members.first(where: { !known.contains($0.name) }) else { return }
        throw InstallationError("\(path)/\(unknown.name)", noSuchMember(known))
    }

    private static func noSuchMember(_ known: [String]) -> String {
        "there is no such member; there are \(known.joined(separator: ", "))"
    }

    /// The members that responses contain about an installation, and that clients send back with the rest.
    private static let told = [
        "createdAt", "updatedAt", "lastSeen", "state", "fault", "pushChannelExpired", "lastUpdate",
    ]

    /// Refuses unknown members of an installation, of its templates and of its channel. Faults in the known ones are
    /// reported by their parser.
    static func check(installation tree: JSONValue) throws(InstallationError) {
        guard let members = tree.members else { throw InstallationError("", "an installation is a JSON object") }
        let known = InstallationJSON.members.sorted()
        if let unknown = members.first(where: { !known.contains($0.name) && !told.contains($0.name) }) {
            throw InstallationError("/\(unknown.name)", noSuchMember(known))
        }
        if let channel = tree["pushChannel"], channel.members != nil {
            try check(channel, at: "/pushChannel", members: ["endpoint", "p256dh", "auth"])
        }
        for template in tree["templates"]?.members ?? [] where template.value.members != nil {
            let path = "/templates/\(template.name)"
            try check(template.value, at: path, members: ["body", "headers", "expiry", "tags", "locales"])
            for locale in template.value["locales"]?.members ?? [] where locale.value.members != nil {
                try check(locale.value, at: "\(path)/locales/\(locale.name)", members: ["body"])
            }
        }
    }

    /// Refuses a patch of a member that no installation has.
    static func check(patch: JSONValue) throws(InstallationError) {
        if let members = patch.members {
            let known = InstallationJSON.members.sorted()
            guard let unknown = members.first(where: { !known.contains($0.name) && !told.contains($0.name) }) else {
                return
            }
            throw InstallationError("/\(unknown.name)", noSuchMember(known))
        }
        for (index, operation) in (patch.items ?? []).enumerated() {
            try check(operation, at: "/\(index)", members: ["op", "path", "value"])
            guard let path = operation["path"]?.text, path.hasPrefix("/"), path.count > 1 else { continue }
            let name = String(path.dropFirst().prefix { $0 != "/" })
            guard !InstallationJSON.members.contains(name) else { continue }
            throw InstallationError(
                "/\(index)/path",
                "an installation has no \"\(name)\"; it has "
                    + InstallationJSON.members.sorted().joined(separator: ", "))
        }
    }
}
