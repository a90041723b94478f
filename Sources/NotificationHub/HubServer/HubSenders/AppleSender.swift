import APNsProtocol
import AldabaAPNs
import Foundation
import HubProtocol
import Logging
import Networking
import PushCore
import Synchronization

/// Sends to Apple devices through APNs' provider API, with the hub's credential for each environment.
package struct AppleSender: PushSender {
    private let store: any HubStore
    private let clients: AppleClients
    private let gateway: any PushSender
    private let isOwn: @Sendable (String) -> Bool
    /// The numbers of the credentials for which a token was valid since the start.
    private let proven = Proven()
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - rule: The rule for the addresses of push services.
    ///   - gateway: The sender to this server's own devices. For a hub without a credential of Apple's it checks all
    ///     tokens, since it detects malformed ones.
    ///   - isOwn: Whether a device token belongs to this server.
    package init(
        store: any HubStore, rule: AddressRule, gateway: any PushSender, isOwn: @escaping @Sendable (String) -> Bool,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        clients = AppleClients(rule: rule)
        self.gateway = gateway
        self.isOwn = isOwn
        self.clock = clock
        self.logger = logger
    }

    /// Sends to this server's own devices through the gateway, and to all others through Apple.
    package func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        let credentials: [PushCredential]
        do {
            credentials = try await store.credentials(of: hub.number).filter { $0.kind.service == "apns" }
        } catch { return pushes.map { _ in nil } }
        guard !credentials.isEmpty else { return await withoutCredential(pushes, of: hub) }
        var verdicts = [PushVerdict?](repeating: nil, count: pushes.count)
        let own = pushes.indices.filter { isOwn(pushes[$0].channel.key) }
        if !own.isEmpty {
            for (place, verdict) in zip(own, await gateway.deliver(own.map { pushes[$0] }, of: hub)) {
                verdicts[place] = verdict
            }
            // A slice with unknown verdicts is submitted again as a whole, so requests to Apple before would be wasted.
            if own.contains(where: { verdicts[$0] == nil }) { return pushes.map { _ in nil } }
        }
        let others = pushes.indices.filter { !isOwn(pushes[$0].channel.key) }
        let told = await concurrently(others.map { pushes[$0] }) { push in
            guard let credential = Self.credential(for: push.environment, of: credentials) else {
                return Self.lacksCredential(push)
            }
            return await send(push, hub: hub, credential: credential)
        }
        for (place, verdict) in zip(others, told) { verdicts[place] = verdict }
        return verdicts
    }

    /// Sends to this server's own devices. A token of Apple's that was not checked is not reported as invalid.
    private func withoutCredential(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        zip(pushes, await gateway.deliver(pushes, of: hub)).map { push, verdict in
            let key = push.channel.key
            guard verdict?.outcome == .badChannel, Self.isToken(key), !isOwn(key) else { return verdict }
            return Self.lacksCredential(push)
        }
    }

    private static func lacksCredential(_ push: HubPush) -> PushVerdict {
        var verdict = PushVerdict(.invalidCredentials, reason: "NoCredential")
        verdict.environment = push.environment.map { .missing($0) }
        return verdict
    }

    /// The credential for an environment; where an installation specifies none, production's, or the only one.
    static func credential(
        for environment: PushEnvironment?, of credentials: [PushCredential]
    ) -> PushCredential? {
        guard let environment else {
            return credentials.first { $0.environment == .production } ?? credentials.first
        }
        return credentials.first { $0.environment == environment }
    }

    private func send(_ push: HubPush, hub: HubRecord, credential: PushCredential) async -> PushVerdict {
        guard case .handle(let handle) = push.channel, Self.isToken(handle) else {
            return PushVerdict(.badChannel, diedAt: clock(), reason: "BadDeviceToken")
        }
        let options: PushOptions
        do { options = try PushOptions(push.headers, now: clock()) } catch {
            return PushVerdict(.invalidNotificationFormat, reason: "\(error)")
        }
        guard PayloadLimit.allows(push.body, for: .apns, options.pushType) else {
            return PushVerdict(.invalidNotificationSize, reason: "PayloadTooLarge")
        }
        let (client, addressGuard): (APNsClient, AddressGuard)
        do {
            let entry = try clients.client(of: credential)
            (client, addressGuard) = (entry.client, entry.addressGuard)
        } catch let error as OutboundError {
            return AppleVerdict.failed(isForbidden: error.isForbidden)
        } catch {
            return PushVerdict(.invalidCredentials, reason: "UnreadableKey")
        }
        let askedAt = clock()
        do throws(APNsSendError) {
            let answer = try await client.response(
                to: "/3/device/\(handle)", fields: Self.fields(push, hub: hub, options: options), body: push.body)
            let verdict = AppleVerdict.read(
                answer, askedAt: askedAt,
                environment: credential.environment.map { ($0, isProven: proven.contains(credential.number)) })
            if verdict.environment == .right { proven.insert(credential.number) }
            return verdict
        } catch {
            logger.warning("Apple's push service could not be asked: \(error)")
            return AppleVerdict.failed(isForbidden: addressGuard.hasRefused)
        }
    }

    /// Whether a handle is a token: it is part of a path, so it must contain only digits; Apple checks their number.
    private static func isToken(_ handle: String) -> Bool {
        (1...400).contains(handle.utf8.count) && handle.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// The fields of the request, apart from the credential.
    private static func fields(
        _ push: HubPush, hub: HubRecord, options: PushOptions
    ) -> [(name: String, value: String)] {
        let type = options.pushType ?? implied(push.body)
        let priority = type == .background && options.priority == .immediate ? 5 : options.priority.rawValue
        var fields: [(name: String, value: String)] = [
            ("apns-topic", hub.topic.rawValue + (type.topicSuffix.map { "\($0)" } ?? "")),
            ("apns-push-type", type.rawValue), ("apns-id", push.id.rawValue), ("apns-priority", String(priority)),
        ]
        switch options.expiry {
        case .policyDefault: break
        case .once: fields.append(("apns-expiration", "0"))
        case .until(let instant): fields.append(("apns-expiration", String(max(1, instant.rawValue / 1000))))
        }
        if let collapseID = options.collapseID { fields.append(("apns-collapse-id", collapseID)) }
        return fields
    }

    /// The push type of a payload without one.
    private static func implied(_ body: [UInt8]) -> PushType {
        guard let aps = (try? JSONValue(body))?["aps"], aps["content-available"]?.integer == 1,
            aps["alert"] == nil, aps["badge"] == nil, aps["sound"] == nil
        else { return .alert }
        return .background
    }
}

/// A set of credentials' numbers; it has at most as many members as there are credentials.
private final class Proven: Sendable {
    private let numbers = Mutex<Set<Int64>>([])

    func contains(_ number: Int64) -> Bool { numbers.withLock { $0.contains(number) } }
    func insert(_ number: Int64) { numbers.withLock { _ = $0.insert(number) } }
}
