import PushCore
import PushServer

/// The rows of apps' messages to their providers, and of the webhooks: a value.
struct MessageShelf: Sendable {
    private struct Kept: Sendable {
        var waiting: WaitingMessage
        var end: (MessageEnd, Timestamp)?
    }

    private var kept: [Kept] = []
    private var lastNumber: Int64 = 0
    private(set) var webhooks: [AppID: Webhook] = [:]

    mutating func keep(
        _ message: AppMessage, _ limits: MessageLimits, topic: Topic,
        registration: (PushEnvironment, Registration)?, at now: Timestamp
    ) -> MessageInsertion {
        let isKnown = kept.contains {
            let other = $0.waiting.message
            return other.app == message.app && other.device == message.device && other.messageID == message.messageID
        }
        if isKnown { return .known }
        guard let (environment, registration) = registration else { return .notRegistered }
        let waiting = kept.filter { $0.end == nil && $0.waiting.message.app == message.app }
        let own = waiting.count { $0.waiting.message.device == message.device }
        guard waiting.count < limits.app, own < limits.device else { return .full }
        lastNumber += 1
        kept.append(
            Kept(
                waiting: WaitingMessage(
                    number: lastNumber, message: message, topic: topic, environment: environment,
                    generation: registration.generation, receivedAt: now)))
        return .kept
    }

    func waiting(_ scope: MessageScope, after number: Int64, at now: Timestamp) -> [WaitingMessage] {
        kept.filter { $0.end == nil && $0.waiting.number > number && isIn(scope, $0) }.map(\.waiting)
            .filter { $0.message.expiresAt > now }
    }

    mutating func take(_ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp) -> Int {
        let places = kept.indices.filter {
            kept[$0].end == nil && kept[$0].waiting.number <= number && isIn(scope, kept[$0])
        }
        for place in places.prefix(limit) { kept[place].end = (.taken, now) }
        return min(places.count, limit)
    }

    mutating func take(_ number: Int64, at now: Timestamp) -> Bool {
        guard let place = kept.firstIndex(where: { $0.waiting.number == number && $0.end == nil }) else { return false }
        kept[place].end = (.taken, now)
        return true
    }

    mutating func expire(at now: Timestamp, limit: Int) -> Int {
        let due = kept.indices.filter { kept[$0].end == nil && kept[$0].waiting.message.expiresAt <= now }
        for place in due.prefix(limit) { kept[place].end = (.expired, now) }
        return min(due.count, limit)
    }

    mutating func forget(endedBefore instant: Timestamp, limit: Int) -> Int {
        let old = Set(
            kept.filter { ($0.end?.1).map { $0 < instant } ?? false }.prefix(limit).map(\.waiting.number))
        kept.removeAll { old.contains($0.waiting.number) }
        return old.count
    }

    func ends(app: AppID, messageID: String) -> [DeviceID: MessageEnd?] {
        var ends: [DeviceID: MessageEnd?] = [:]
        for kept in kept where kept.waiting.message.app == app && kept.waiting.message.messageID == messageID {
            ends.updateValue(kept.end?.0, forKey: kept.waiting.message.device)
        }
        return ends
    }

    mutating func setWebhook(_ webhook: Webhook?, app: AppID) { webhooks[app] = webhook }

    private func isIn(_ scope: MessageScope, _ kept: Kept) -> Bool {
        let message = kept.waiting.message
        if let app = scope.app { return message.app == app }
        return webhooks[message.app] == nil && (scope.team == nil || message.team == scope.team)
    }
}
