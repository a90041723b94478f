import Foundation
import HubProtocol
import HubServer
import PushCore
import RelayProtocol

/// Wakes devices through the push services for which a hub has credentials.
package struct HubWaker: RelayWaker {
    /// The maximum number of attempts for one push.
    static let attempts = 5
    /// The minimum pause before the next attempt, in milliseconds.
    static let leastPause: Int64 = 1_000

    private let name: String
    private let hub: @Sendable (String) async throws -> HubRecord?
    private let senders: [RelayWakeChannel.Service: any PushSender]
    private let clock: @Sendable () -> Timestamp
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a waker.
    ///
    /// - Parameters:
    ///   - name: The name of the hub, which may be created later.
    ///   - hub: Finds the hub with a name; `nil` for none.
    package init(
        hub name: String, of hub: @escaping @Sendable (String) async throws -> HubRecord?,
        senders: [RelayWakeChannel.Service: any PushSender],
        clock: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.name = name
        self.hub = hub
        self.senders = senders
        self.clock = clock
        self.sleep = sleep
    }

    /// Sends a push that is not shown.
    package func wake(
        _ channel: RelayWakeChannel, until deadline: Timestamp,
        then complete: @escaping @Sendable (RelayWakeResult) -> Void
    ) {
        Task { complete(await outcome(of: channel, until: deadline)) }
    }

    private func outcome(of channel: RelayWakeChannel, until deadline: Timestamp) async -> RelayWakeResult {
        guard let sender = senders[channel.service] else { return .failed(reason: "no sender to \(channel.service)") }
        let push = Self.push(channel, until: deadline)
        var reason = "the push service could not be asked"
        for attempt in 1...Self.attempts {
            var pause = Self.leastPause
            do {
                guard let hub = try await self.hub(name) else {
                    return .failed(reason: "there is no hub \(name)")
                }
                if let verdict = await sender.deliver([push], of: hub).first ?? nil {
                    if verdict.outcome == .success { return .sent }
                    reason = verdict.reason ?? verdict.outcome.rawValue
                    if verdict.diedAt != nil { return .dead(reason: reason) }
                    guard let after = verdict.retryAfter else { return .failed(reason: reason) }
                    pause = max(pause, after)
                }
            } catch { reason = "the hubs could not be read: \(error)" }
            guard attempt < Self.attempts, clock().adding(milliseconds: pause) < deadline else { break }
            do { try await sleep(.milliseconds(pause)) } catch { break }
        }
        return .failed(reason: reason)
    }

    /// The push, with the time until which something is queued for the device.
    static func push(_ channel: RelayWakeChannel, until deadline: Timestamp) -> HubPush {
        let until = JSONValue.string(String(deadline.rawValue))
        let body: JSONValue
        switch channel.service {
        case .apns:
            body = .object([
                .init("aps", .object([.init("content-available", .number("1"))])),
                .init("aldaba", .object([.init("relay", .string("wake")), .init("until", until)])),
            ])
        case .fcm:
            let data = JSONValue.object([.init("aldaba.relay", .string("wake")), .init("aldaba.until", until)])
            let android = JSONValue.object([.init("priority", .string("HIGH"))])
            body = .object([.init("message", .object([.init("data", data), .init("android", android)]))])
        }
        let headers = [
            "apns-push-type": "background", "apns-priority": "5", "apns-collapse-id": "aldaba.relay",
            "apns-expiration": String(max(1, deadline.rawValue / 1000)),
        ]
        let environment: PushEnvironment? =
            switch channel.environment {
            case .production?: .production
            case .sandbox?: .sandbox
            case nil: nil
            }
        return HubPush(
            channel: .handle(channel.token), platform: channel.service == .apns ? .apns : .fcmv1, body: body.bytes,
            headers: headers, id: APNsID(rawValue: UUID().uuidString.lowercased()), environment: environment)
    }
}
