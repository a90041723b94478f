import PushCore
import PushServer

extension MemoryStore: AppMessageStore {
    /// Stores the messages under one lock.
    package func save(
        _ messages: [AppMessage], limits: MessageLimits, at now: Timestamp
    ) async throws -> [MessageInsertion] {
        state.withLock { state in
            messages.map { message in
                state.messages.keep(
                    message, limits, topic: state.register.app(message.app)?.topic ?? Topic(rawValue: ""),
                    registration: state.register.activeRegistration(of: message.app, on: message.device), at: now)
            }
        }
    }

    /// Reads the queued messages, except those of removed apps.
    package func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage] {
        state.withLock { state in
            Array(
                state.messages.waiting(scope, after: number, at: now)
                    .filter { !state.register.isRemoved($0.message.app) }.prefix(limit))
        }
    }

    /// Ends a slice of messages.
    package func takeMessages(
        _ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp
    ) async throws -> Int {
        state.withLock { $0.messages.take(scope, through: number, limit: limit, at: now) }
    }

    /// Ends a message.
    package func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool {
        state.withLock { $0.messages.take(number, at: now) }
    }

    /// Ends a slice of expired messages.
    package func expireMessages(at now: Timestamp, limit: Int) async throws -> Int {
        state.withLock { $0.messages.expire(at: now, limit: limit) }
    }

    /// Deletes a slice of ended messages.
    package func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int {
        state.withLock { $0.messages.forget(endedBefore: instant, limit: limit) }
    }

    /// Finds messages by their app and id.
    package func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?] {
        state.withLock { $0.messages.ends(app: app, messageID: messageID) }
    }

    /// Sets the webhook, which is a change of the register.
    package func setWebhook(_ webhook: Webhook?, app: AppID) async throws {
        state.withLock { state in
            state.messages.setWebhook(webhook, app: app)
            state.register.change()
        }
    }

    /// The webhooks of apps that were not removed.
    package func webhooks() async throws -> [Webhook] {
        state.withLock { state in
            state.messages.webhooks.values.filter { !state.register.isRemoved($0.app) }
                .sorted { $0.app.rawValue < $1.app.rawValue }
        }
    }
}
