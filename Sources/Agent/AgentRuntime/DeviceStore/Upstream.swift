import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// How much an app may send to its provider, and how many of its topics may wait.
package enum UpstreamLimits {
    /// Messages of one app that may wait to be sent.
    package static let waiting = 1_000
    /// Ends of one app's messages that are kept until it knows of them; the oldest go.
    package static let untold = 1_000
    /// The time for which a message with a time to live of 0 is tried, in milliseconds.
    package static let attempt: Int64 = 20_000
    /// How long until it is looked again whether one has expired that the server may have, in milliseconds.
    package static let doubt: Int64 = 300_000
    /// Topics of one app that may wait to be joined or left.
    package static let topics = 2_000
}

extension ChangeApplier {
    /// - Returns: A code of ``ChannelFault`` where it is not taken.
    func queue(_ draft: UpstreamDraft, app: BundleID, at: Timestamp) throws -> String? {
        let known = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT recipient, data, time_to_live FROM upstream WHERE app = ? AND message = ?"),
            arguments: [app, draft.id])
        let data = try JSONText.of(draft.data)
        if let known {
            // The same request again: its answer was lost in transit.
            let (recipient, text, timeToLive): (String, String, Int64) = (known[0], known[1], known[2])
            let isSame =
                recipient == draft.to && JSONText.read(text) == draft.data && timeToLive == draft.timeToLive
            return isSame ? nil : ChannelFault.duplicate
        }
        let isFull =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT sequence FROM upstream WHERE app = ? AND ended = 0 LIMIT 1 OFFSET ?"),
                arguments: [app, UpstreamLimits.waiting - 1]) != nil
        guard !isFull else { return ChannelFault.tooMany }
        let timeout = draft.timeToLive == 0 ? UpstreamLimits.attempt : draft.timeToLive * 1000
        try execute(
            """
            INSERT INTO upstream (app, message, recipient, data, time_to_live, sent_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [app, draft.id, draft.to, data, draft.timeToLive, at.rawValue, at.adding(milliseconds: timeout).rawValue])
        return nil
    }

    /// Checks again later whether messages that were sent have expired.
    func postponeUpstreamUnderWay(at: Timestamp) throws {
        try execute(
            "UPDATE upstream SET expires_at = ? WHERE ended = 0 AND under_way = 1 AND expires_at <= ?",
            [at.adding(milliseconds: UpstreamLimits.doubt).rawValue, at.rawValue])
    }

    /// Ends the messages that wait and for which the condition holds.
    func end(
        code: String?, where condition: String, arguments: StatementArguments
    ) throws -> [BundleID: [EndedUpstream]] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT sequence, app, message FROM upstream WHERE ended = 0 AND \(condition) ORDER BY sequence"),
            arguments: arguments)
        var ended: [BundleID: [EndedUpstream]] = [:]
        for row in rows {
            let end = EndedUpstream(sequence: row[0], id: row[2], code: code)
            try execute("UPDATE upstream SET ended = 1, code = ? WHERE sequence = ?", [code, end.sequence])
            ended[row[1], default: []].append(end)
        }
        for app in ended.keys {
            try execute(
                """
                DELETE FROM upstream WHERE app = ?1 AND ended = 1 AND sequence <= (
                    SELECT sequence FROM upstream WHERE app = ?1 AND ended = 1
                    ORDER BY sequence DESC LIMIT 1 OFFSET ?2)
                """, [app, UpstreamLimits.untold])
        }
        return ended
    }

    /// - Returns: A code of ``ChannelFault`` where it is not taken.
    func requestTopicChange(_ topic: String, joins: Bool, app: BundleID) throws -> String? {
        let isFull =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT sequence FROM topic_wish WHERE app = ? AND topic <> ? LIMIT 1 OFFSET ?"),
                arguments: [app, topic, UpstreamLimits.topics - 1]) != nil
        guard !isFull else { return ChannelFault.tooMany }
        try execute(
            "INSERT OR REPLACE INTO topic_wish (app, topic, joins) VALUES (?, ?, ?)", [app, topic, joins])
        return nil
    }
}

extension AgentReader {
    /// The messages without an answer from the server: the first `limit` after a place in the outbox; and whether each
    /// was sent before.
    package func upstream(
        after place: QueuedUpstream.Place, limit: Int
    ) throws -> [(message: QueuedUpstream, isUnderWay: Bool)] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, app, message, recipient, data, time_to_live, sent_at, under_way
                    FROM upstream INDEXED BY upstream_waiting
                    WHERE ended = 0 AND sequence > ? ORDER BY sequence LIMIT ?
                    """), arguments: [place, limit]
        ).map { row in
            let text: String = row[4]
            let data = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
            let message = QueuedUpstream(
                sequence: row[0], app: row[1],
                draft: UpstreamDraft(id: row[2], to: row[3], data: data, timeToLive: row[5]),
                sentAt: Timestamp(rawValue: row[6]))
            return (message, row[7])
        }
    }

    /// The outcomes of an app's messages that the app has not confirmed yet.
    package func endedUpstream(app: BundleID) throws -> [EndedUpstream] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, message, code FROM upstream INDEXED BY upstream_ended
                    WHERE app = ? AND ended = 1 ORDER BY sequence
                    """), arguments: [app]
        ).map { EndedUpstream(sequence: $0[0], id: $0[1], code: $0[2]) }
    }

    /// When the next message of the outbox expires; `nil` where no message waits.
    package func nextUpstreamExpiry() throws -> Timestamp? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT min(expires_at) FROM upstream WHERE ended = 0")
        ).map(Timestamp.init(rawValue:))
    }

    /// The topics that wait to be joined or left, of apps that have device tokens: the first `limit` after a place, and
    /// each app's token.
    package func pendingTopicChanges(
        after place: TopicChangeRequest.Place, limit: Int, environment: PushEnvironment
    ) throws -> [(request: TopicChangeRequest, token: String)] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT w.sequence, w.app, w.topic, w.joins, r.token
                    FROM topic_wish AS w JOIN registration AS r ON r.app = w.app AND r.environment = ?
                    WHERE w.sequence > ? AND r.token IS NOT NULL ORDER BY w.sequence LIMIT ?
                    """), arguments: [environment.rawValue, place, limit]
        ).map { row in
            (TopicChangeRequest(sequence: row[0], app: row[1], topic: row[2], joins: row[3]), row[4])
        }
    }
}
