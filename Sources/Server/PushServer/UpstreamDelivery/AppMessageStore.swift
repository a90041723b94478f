import PushCore

/// Durable storage of messages from apps until their provider has them; the port that a store implements.
package protocol AppMessageStore: Sendable {
    /// Stores messages, in order, in one transaction, durably when this returns; returns the outcome of each.
    ///
    /// - Throws: The store's error; then none is stored.
    func save(_ messages: [AppMessage], limits: MessageLimits, at now: Timestamp) async throws -> [MessageInsertion]

    /// The queued messages after a number, in order. Expired ones are left out, and so are those queued for a webhook,
    /// unless the scope is its app.
    func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage]

    /// Ends at most `limit` of the scope's queued messages up to a number, as taken, durably. Messages for a webhook
    /// are left out, unless the scope is its app.
    ///
    /// - Returns: The number of messages.
    func takeMessages(
        _ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp
    ) async throws -> Int

    /// Ends one queued message, as taken, durably; `false` when it is no longer queued.
    func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool

    /// Ends at most `limit` queued messages that have expired.
    ///
    /// - Returns: The number of messages.
    func expireMessages(at now: Timestamp, limit: Int) async throws -> Int

    /// Deletes at most `limit` messages that ended before an instant; until then they are known, so that none is
    /// delivered twice.
    ///
    /// - Returns: The number of messages.
    func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int

    /// The ends of the messages of an app with an id, from any device; `nil` for one that is queued.
    func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?]

    /// Sets the webhook of an app's messages, in place of an earlier one; `nil` removes it.
    func setWebhook(_ webhook: Webhook?, app: AppID) async throws

    /// All webhooks of apps that were not removed.
    func webhooks() async throws -> [Webhook]
}
