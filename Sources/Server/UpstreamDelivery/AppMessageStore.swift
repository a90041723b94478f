import PushModel

/// Where messages from apps are durable until their provider has them; the port that a store implements.
package protocol AppMessageStore: Sendable {
    /// Stores messages, in order, in one transaction, durably when this returns; says of each what became of it.
    ///
    /// - Throws: what the store says; then nothing of it has happened.
    func keep(_ messages: [AppMessage], limits: MessageLimits, at now: Timestamp) async throws -> [MessageKeeping]

    /// The messages that wait after a number, in order. What has expired by now is left out, and so is what waits for a
    /// webhook, unless the scope names its app.
    func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage]

    /// Ends at most `limit` of the scope's waiting messages up to a number, as taken, durably. What waits for a webhook is
    /// not among them, unless the scope names its app.
    ///
    /// - Returns: How many.
    func takeMessages(
        _ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp
    ) async throws -> Int

    /// Ends one message that waits, as taken, durably; `false` when it waits no more.
    func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool

    /// Ends at most `limit` waiting messages whose time has passed.
    ///
    /// - Returns: How many.
    func expireMessages(at now: Timestamp, limit: Int) async throws -> Int

    /// Deletes at most `limit` messages that ended before an instant; until then they are known, so that none comes twice.
    ///
    /// - Returns: How many.
    func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int

    /// The ends of the messages of an app that bear a name, from whatever devices; `nil` for one that waits.
    func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?]

    /// Sets where an app's messages are sent, in place of an earlier one; `nil` takes it away.
    func setWebhook(_ webhook: Webhook?, app: AppID) async throws

    /// All webhooks of apps that were not removed.
    func webhooks() async throws -> [Webhook]
}
