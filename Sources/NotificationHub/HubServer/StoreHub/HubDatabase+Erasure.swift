import Foundation
import GRDB
import HubProtocol
import PushCore

/// The removal of a person from the store.
extension HubDatabase {
    /// Marks the channels as dead without an event for the webhook.
    package func retire(
        _ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed
    ) async throws {
        try await change(committed) { database, changes in
            for installation in installations {
                guard let old = try Self.one(database, hub: hub, id: installation.installation.foldedID),
                    old.fault == nil
                else { continue }
                try database.execute(
                    sql:
                        "UPDATE installation SET fault = 'Erased', fault_at = ?, version = version + 1 WHERE number = ?",
                    arguments: [now.rawValue, Int64(old.number)])
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
        }
    }

    /// Deletes the row, the names in rows of sends, and, by their index, the events that name it.
    package func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int? {
        try await change(committed) { database, changes -> Int? in
            guard let old = try Self.one(database, hub: hub, id: id.lowercased()) else { return nil }
            // The outcomes of a person's notifications are not looked up any more.
            try database.execute(
                sql: """
                    UPDATE send_recipient SET ending = 'ended', looked_up_at = NULL
                    WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                    """, arguments: [Int64(old.number)])
            try Self.delete(Int64(old.number), database)
            try Self.rename(old.installation, hub: hub, database)
            try Self.eraseChannel(of: old.installation, hub: hub, database)
            try database.execute(sql: Self.erasingEvents, arguments: [hub, old.installation.foldedID])
            let count = database.changesCount
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return count
        }
    }

    static let erasingEvents = """
        DELETE FROM hub_event WHERE hub = ? AND kind = 'channel.dead' AND lower(data ->> '$.installationId') = ?
        """

    /// Replaces the names of the person and the installation in the expressions of sends by an unused name. An
    /// expression stays valid, and matches the same other installations.
    private static func rename(_ installation: Installation, hub: Int64, _ database: Database) throws {
        let nobody = "erased-" + String(UInt64.random(in: .min ... .max), radix: 16)
        for (name, value) in [("$UserId:{", installation.userID), ("$InstallationId:{", installation.id)] {
            guard let value else { continue }
            let term = "\(name)\(value)}".lowercased()
            let rows = try Row.fetchAll(
                database, sql: "SELECT number, expression FROM send WHERE hub = ? AND instr(lower(expression), ?) > 0",
                arguments: [hub, term])
            for row in rows {
                let expression = (row["expression"] as String).replacingOccurrences(
                    of: term, with: "\(name)\(nobody)}", options: [.caseInsensitive, .literal])
                try database.execute(
                    sql: "UPDATE send SET expression = ? WHERE number = ?",
                    arguments: [expression, row["number"] as Int64])
            }
        }
    }

    /// Removes the channel, and a browser's keys, from ended sends to named channels. An unreadable row may contain the
    /// channel too, and is cleared entirely.
    private static func eraseChannel(of installation: Installation, hub: Int64, _ database: Database) throws {
        guard let channel = installation.channel?.key, let handle = installation.channelHandle else { return }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, channels, headers FROM send
                WHERE hub = ? AND ended_at IS NOT NULL AND channels IS NOT NULL
                """, arguments: [hub])
        for row in rows {
            let items = (try? JSONTree(text: row["channels"]))?.items?.map(\.text)
            let isTheirs = items?.map { $0.map(installation.platform.spelling(ofChannel:)) == handle }
            guard isTheirs?.contains(true) ?? true else { continue }
            let left = zip(items ?? [], isTheirs ?? []).map { JSONTree.string($1 ? "" : $0 ?? "") }
            let headers = (try? JSONTree(text: row["headers"]))?.members?.filter {
                $0.name != "p256dh" && $0.name != "auth"
            }
            let number: Int64 = row["number"]
            try database.execute(
                sql: "UPDATE send SET channels = ?, headers = ? WHERE number = ?",
                arguments: [
                    JSONTree.array(left).json, JSONTree.object(headers ?? []).json, number,
                ])
            for table in ["send_recipient", "send_fault"] {
                try database.execute(
                    sql: "UPDATE \(table) SET name = '' WHERE send = ? AND name IN (?, ?)",
                    arguments: [number, channel, handle])
            }
        }
    }
}
