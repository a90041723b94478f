import PushServer
import RelayProtocol

/// An account as an operator sees it: without names, apps and contents.
package struct RelayAccount: Hashable, Sendable {
    /// A device of an account.
    package struct Device: Hashable, Sendable {
        /// The device's description of itself, and when it was there last.
        package var stored: StoredDevice
        /// The number of messages that wait for it.
        package var messages: Int
        /// Whether it has a session at one of several servers.
        package var isOnline: Bool
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
        try await database.read { sql in
            try sql.rows(
                "SELECT DISTINCT account FROM relay_device WHERE account > ? ORDER BY account LIMIT ?", after ?? [],
                limit
            ).map { try Self.account(try $0["account"], sql) }
        }
    }

    private static func account(_ hash: [UInt8], _ sql: any SQLConnection) throws -> RelayAccount {
        let devices = try sql.rows(
            """
            SELECT relay_device.*, coalesce(relay_letter_sum.count, 0) AS messages
            FROM relay_device LEFT JOIN relay_letter_sum ON relay_letter_sum.device = relay_device.device
            WHERE account = ? ORDER BY seen_at DESC LIMIT 64
            """, hash
        ).compactMap { row -> RelayAccount.Device? in
            guard let stored = try DeviceRow(row).stored else { return nil }
            return RelayAccount.Device(
                stored: stored, messages: try row["messages"],
                isOnline: sql.isShared ? try row["node"] as Int64? != nil : false)
        }
        let documents = try sql.row("SELECT count, bytes FROM relay_document_sum WHERE account = ?", hash)
        return RelayAccount(
            hash: hash, devices: devices, documents: try documents?["count"] ?? 0,
            documentBytes: try documents?["bytes"] ?? 0)
    }
}
