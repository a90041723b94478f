import Foundation
import HubProtocol
import PushCore
import PushServer

/// The removal of a person from the store.
extension HubDatabase {
    /// Marks the channels as dead without an event for the webhook.
    package func retire(
        _ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed
    ) async throws {
        try await change(hub: hub, committed) { sql, changes in
            for installation in installations {
                guard let old = try InstallationRows.one(sql, hub: hub, id: installation.installation.foldedID),
                    old.fault == nil
                else { continue }
                try sql.run(
                    "UPDATE installation SET fault = 'Erased', fault_at = ?, version = version + 1 WHERE number = ?",
                    now,
                    old.number)
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
        }
    }

    /// Deletes the row, the names in rows of sends, and, by their index, the events that name it.
    package func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int? {
        try await change(hub: hub, committed) { sql, changes -> Int? in
            guard let old = try InstallationRows.one(sql, hub: hub, id: id.lowercased()) else { return nil }
            // The outcomes of a person's notifications are not looked up any more.
            try sql.run(
                """
                UPDATE send_recipient SET ending = 'ended', looked_up_at = NULL
                WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                """, old.number)
            try InstallationRows.delete(old.number, sql)
            try Self.rename(old.installation, hub: hub, sql)
            try Self.eraseChannel(of: old.installation, hub: hub, sql)
            // The log has what the person's installations were found by. Servers that have not read it read all installations.
            try sql.run("DELETE FROM audience_change WHERE hub = ?", hub)
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return try sql.run(
                "DELETE FROM hub_event WHERE \(Self.namesInstallation(sql))", hub, old.installation.foldedID)
        }
    }

    /// Replaces the names of the person and the installation in the expressions of sends by an unused name. An
    /// expression stays valid, and matches the same other installations.
    private static func rename(_ installation: HubProtocol.Installation, hub: Int64, _ sql: any SQLConnection) throws {
        let nobody = "erased-" + String(UInt64.random(in: .min ... .max), radix: 16)
        for (name, value) in [("$UserId:{", installation.userID), ("$InstallationId:{", installation.id)] {
            guard let value else { continue }
            let term = "\(name)\(value)}".lowercased()
            let rows = try sql.rows(
                "SELECT number, expression FROM send WHERE hub = ? AND instr(lower(expression), ?) > 0", hub, term)
            for row in rows {
                let expression = (try row["expression"] as String).replacingOccurrences(
                    of: term, with: "\(name)\(nobody)}", options: [.caseInsensitive, .literal])
                try sql.run("UPDATE send SET expression = ? WHERE number = ?", expression, try row["number"] as Int64)
            }
        }
    }

    /// Removes the channel, and a browser's keys, from ended sends to named channels. An unreadable row may contain the
    /// channel too, and is cleared entirely.
    private static func eraseChannel(of installation: HubProtocol.Installation, hub: Int64, _ sql: any SQLConnection)
        throws
    {
        guard let channel = installation.channel?.key, let handle = installation.channelHandle else { return }
        let rows = try sql.rows(
            """
            SELECT number, channels, headers FROM send
            WHERE hub = ? AND ended_at IS NOT NULL AND channels IS NOT NULL
            """, hub)
        for row in rows {
            let items = JSONValue(stored: try row["channels"])?.items?.map(\.text)
            let isTheirs = items?.map { $0.map(installation.platform.spelling(ofChannel:)) == handle }
            guard isTheirs?.contains(true) ?? true else { continue }
            let left = zip(items ?? [], isTheirs ?? []).map { JSONValue.string($1 ? "" : $0 ?? "") }
            let headers = JSONValue(stored: try row["headers"])?.members?.filter {
                $0.name != "p256dh" && $0.name != "auth"
            }
            let number: Int64 = try row["number"]
            try sql.run(
                "UPDATE send SET channels = ?, headers = ? WHERE number = ?", JSONValue.array(left).json,
                JSONValue.object(headers ?? []).json, number)
            for table in ["send_recipient", "send_fault"] {
                try sql.run(
                    "UPDATE \(table) SET name = '' WHERE send = ? AND name IN (?, ?)", number, channel, handle)
            }
        }
    }
}
