import Foundation
import GRDB
import RelayProtocol

/// An account as an operator sees it: without names, apps and contents.
package struct RelayAccount: Hashable, Sendable {
    /// A device of an account.
    package struct Device: Hashable, Sendable {
        /// The device's description of itself, and when it was there last.
        package var stored: StoredDevice
        /// The number of messages that wait for it.
        package var messages: Int
    }

    /// The hash of the account's access token.
    package var hash: [UInt8]
    /// The devices, the last seen first.
    package var devices: [Device]
    /// The number of sealed documents.
    package var documents: Int
    /// The size of the sealed documents, in bytes.
    package var documentBytes: Int
}

extension RelayDatabase {
    /// Reads a page of the accounts, in the order of their hashes. What devices told in the last moment is not in it.
    ///
    /// - Parameter after: The hash after which the page begins; `nil` for the first.
    package func accounts(after: [UInt8]?, limit: Int) async throws -> [RelayAccount] {
        try await queue.read { database in
            let hashes = try Data.fetchAll(
                database, sql: "SELECT DISTINCT account FROM relay_device WHERE account > ? ORDER BY account LIMIT ?",
                arguments: [Data(after ?? []), limit])
            return try hashes.map { try Self.account($0, database) }
        }
    }

    private static func account(_ hash: Data, _ database: Database) throws -> RelayAccount {
        let devices = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT described, wake, seen_at, coalesce(relay_letter_sum.count, 0) AS messages
                    FROM relay_device LEFT JOIN relay_letter_sum ON relay_letter_sum.device = relay_device.device
                    WHERE account = ? ORDER BY seen_at DESC LIMIT 64
                    """), arguments: [hash]
        ).compactMap { row -> RelayAccount.Device? in
            // A device written by a later version is ignored.
            guard let device = try? RelayDevice([UInt8](row["described"] as Data)) else { return nil }
            let wake = (row["wake"] as Data?).flatMap { try? RelayWakeChannel.read([UInt8]($0)) }
            return RelayAccount.Device(
                stored: StoredDevice(device: device, seen: row["seen_at"], wake: wake), messages: row["messages"])
        }
        let documents = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT count, bytes FROM relay_document_sum WHERE account = ?"),
            arguments: [hash])
        return RelayAccount(
            hash: [UInt8](hash), devices: devices, documents: documents?["count"] ?? 0,
            documentBytes: documents?["bytes"] ?? 0)
    }
}
