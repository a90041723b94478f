import Crypto
import Foundation
import HubProtocol
import Logging
import Networking
import PushCore

/// Sends to browsers through Web Push (RFC 8030), with the hub's VAPID key.
package struct WebPushSender: PushSender {
    private let store: any HubStore
    private let http: GuardedHTTP
    private let tokens: VAPIDTokens
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// Creates a sender.
    package init(
        store: any HubStore, http: GuardedHTTP, clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.http = http
        self.clock = clock
        self.logger = logger
        tokens = VAPIDTokens(clock: clock)
    }

    /// Sends each notification to its subscription's own push service.
    package func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        let credential: PushCredential?
        do {
            credential = try await store.credentials(of: hub.number).first { $0.kind == .webpush }
        } catch { return pushes.map { _ in nil } }
        guard let credential else {
            return pushes.map { _ in PushVerdict(.invalidCredentials, reason: "NoCredential") }
        }
        return await concurrently(pushes) { await send($0, credential) }
    }

    private func send(_ push: HubPush, _ credential: PushCredential) async -> PushVerdict {
        guard case .browser(let endpoint, let p256dh, let auth) = push.channel, let origin = Self.origin(endpoint),
            let recipient = try? RecipientPublicKey(p256dh: p256dh, auth: auth)
        else { return PushVerdict(.badChannel, diedAt: clock(), reason: "BadSubscription") }
        guard PayloadLimit.allows(push.body, for: .browser) else {
            return PushVerdict(.invalidNotificationSize, reason: "PayloadTooLarge")
        }
        let body: [UInt8]
        var headers: [(name: String, value: String)]
        do {
            body = try PushMessage.encrypt(push.body, to: recipient)
            headers = Self.headers(try PushOptions(push.headers, now: clock()), now: clock())
            headers.append(("authorization", try tokens.authorization(credential, origin: origin)))
        } catch let fault as InstallationError {
            return PushVerdict(.invalidNotificationFormat, reason: "\(fault)")
        } catch { return PushVerdict(.invalidCredentials, reason: "UnreadableKey") }
        let askedAt = clock()
        do {
            let answer = try await http.send(
                OutboundRequest(url: endpoint, headers: headers, body: body),
                as: GuardedHTTP.Identity(id: credential.number, authority: credential.authority))
            return WebPushVerdict.read(answer, askedAt: askedAt)
        } catch {
            logger.debug("a Web Push service could not be asked: \(error)")
            if let failure = error as? OutboundError, failure.isForbidden {
                return PushVerdict(.badChannel, diedAt: askedAt, reason: "AddressRefused")
            }
            return PushVerdict(.unavailable, reason: "Unreachable", retryAfter: 0)
        }
    }

    /// The scheme, host and port of an endpoint, in the form of VAPID's audience (RFC 8292, section 2).
    static func origin(_ endpoint: String) -> String? {
        guard let parts = URLComponents(string: endpoint), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        let usual = scheme == "https" ? 443 : 80
        let port = parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)\(port)"
    }

    private static func headers(_ options: PushOptions, now: Timestamp) -> [(name: String, value: String)] {
        let seconds: Int64 =
            switch options.expiry {
            // Browsers' services accept at most 28 days.
            case .policyDefault: 2_419_200
            case .once: 0
            case .until(let instant): max(0, min(instant.milliseconds(since: now) / 1000, 2_419_200))
            }
        let urgency =
            switch options.priority {
            case .low: "very-low"
            case .considerate: "normal"
            case .immediate: "high"
            }
        var headers: [(name: String, value: String)] = [
            ("ttl", String(seconds)), ("urgency", urgency), ("content-encoding", "aes128gcm"),
            ("content-type", "application/octet-stream"),
        ]
        if let id = options.collapseID {
            // A topic may have at most 32 characters (RFC 8030, section 5.4).
            headers.append(("topic", Base64URL.encode(Array(SHA256.hash(data: Array(id.utf8)).prefix(24)))))
        }
        return headers
    }
}
