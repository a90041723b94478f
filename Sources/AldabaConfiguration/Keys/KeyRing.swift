import Foundation
import Glibc
import PushCore

/// The provider keys whose private halves are in a data folder, each with its team; `send` and `key token` sign with
/// them. The server has the public halves, in its register.
package struct KeyRing: Sendable {
    /// A key of the ring.
    package struct Entry: Codable, Sendable, Equatable {
        /// The key's id: ten characters `A-Z0-9`.
        package var keyId: String
        /// The id of the team that the key belongs to.
        package var teamId: String
        /// Milliseconds since 1970.
        package var createdAt: Int64

        /// The key's id as a value.
        package var keyID: KeyID { KeyID(rawValue: keyId) }
        /// The team as a value.
        package var team: TeamID { TeamID(rawValue: teamId) }
    }

    private let folder: String

    /// The ring of a folder; nothing is read yet.
    ///
    /// - Parameter folder: The folder of the key files.
    package init(folder: String) { self.folder = folder }

    /// All keys, the oldest first. A list that cannot be read is a ``ProviderKeyFile/Unreadable``.
    package func entries() throws -> [Entry] {
        guard let text = try PrivateFile.text(index) else { return [] }
        guard let entries = try? JSONDecoder().decode([Entry].self, from: Data(text.utf8)) else {
            throw ProviderKeyFile.Unreadable(path: index, reason: "it is not the list of keys")
        }
        return entries.sorted { ($0.createdAt, $0.keyId) < ($1.createdAt, $1.keyId) }
    }

    /// The oldest key that has the id and the team; `nil` for either means any.
    package func entry(keyID: String? = nil, team: String? = nil) throws -> Entry? {
        try entries().first { (keyID == nil || $0.keyId == keyID) && (team == nil || $0.teamId == team) }
    }

    /// The keys of a team whose files can be read, the oldest first.
    package func usable(team: TeamID) throws -> [(entry: Entry, file: ProviderKeyFile)] {
        try entries().filter { $0.team == team }.compactMap { entry in
            (try? ProviderKeyFile(path: path(of: entry))).map { (entry, $0) }
        }
    }

    /// The path of a key's file.
    package func path(of entry: Entry) -> String { "\(folder)/AuthKey_\(entry.keyId).p8" }

    /// Writes a key's file and adds it to the list.
    package func add(_ key: ProviderKeyFile, team: TeamID, at now: Timestamp) throws -> Entry {
        _ = try key.write(folder: folder)
        let entry = Entry(keyId: key.keyID.rawValue, teamId: team.rawValue, createdAt: now.rawValue)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try locked { try PrivateFile.write(encoder.encode(entries() + [entry]) + [10], to: index) }
        return entry
    }

    /// Runs a body while nobody else changes the list.
    private func locked(_ body: () throws -> Void) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY)
        // Closing it gives the lock back.
        defer { if descriptor >= 0 { close(descriptor) } }
        while descriptor < 0 || flock(descriptor, LOCK_EX) != 0 {
            guard descriptor >= 0, errno == EINTR else {
                throw ProviderKeyFile.Unreadable(path: folder, reason: String(cString: strerror(errno)))
            }
        }
        try body()
    }

    private var index: String { folder + "/keys.json" }
}
