import Foundation
import HubProtocol
import PushCore
import PushServer

/// The statements that remove a person from the rows of sends.
enum ErasureRows {
    /// Replaces the names of the person and the installation in the expressions of sends by an unused name. An
    /// expression stays valid, and matches the same other installations.
    static func rename(_ installation: HubProtocol.Installation, hub: Int64, _ sql: any SQLConnection) throws {
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
    static func eraseChannel(of installation: HubProtocol.Installation, hub: Int64, _ sql: any SQLConnection)
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
