import APNsProtocol
import AldabaAPNs
import AldabaConfiguration
import Foundation
import Networking
import PushCore

/// Looks at what a provider has: its credential, its topic and a device token. Nothing is shown on a device.
struct ProviderDiagnosis {
    /// A server that can be asked.
    struct Server {
        var name: String
        var environment: AppleOptions.Environment?
        var client: APNsClient
    }

    let topic: String
    let token: String?
    /// The server that the provider sends to, and for Apple the one of the other environment.
    let server: Server
    let other: Server?

    /// A token that no device has.
    private static let noDevice = String(repeating: "0", count: 64)
    /// A background push that shows nothing and wakes no app.
    private static let payload = Array(#"{"aps":{}}"#.utf8)

    /// The findings, in the order of the checks; the first problem ends them.
    func findings() async -> [Finding] {
        if let finding = shapeFault { return [finding] }
        let name = server.name
        switch await probe(Self.noDevice, server) {
        case .unreachable(let reason):
            return [
                Finding(
                    what: "\(name) cannot be asked: \(reason)",
                    remedy: "look at the address, and name the authority of its certificate with --ca", isProblem: true)
            ]
        case .refused(let refusal) where !refusal.isAboutToken: return [finding(refusal)]
        case .refused, .accepted: break
        }
        let accepted = Finding(what: "\(name) accepts the credential for the topic \(topic)")
        guard let token else {
            return [accepted, Finding(what: "no device token was checked", remedy: "name one with --token")]
        }
        return [accepted, await finding(ofToken: token)]
    }

    private var shapeFault: Finding? {
        if !Topic.hasShape(topic) {
            return Finding(
                what: "the topic \(topic) has not the form of a bundle id",
                remedy: "the topic is the app's bundle id, such as com.example.todo", isProblem: true)
        }
        guard let token else { return nil }
        let digits = token.utf8.count
        guard digits > 0, digits.isMultiple(of: 2), token.utf8.allSatisfy({ Hexadecimal.value($0) != nil }) else {
            return Finding(
                what: "the device token is not in hexadecimal digits",
                remedy: "an app has it as bytes; write each as two digits, without blanks and angle brackets",
                isProblem: true)
        }
        return nil
    }

    private func finding(ofToken token: String) async -> Finding {
        let refusal: Refusal
        switch await probe(token, server) {
        case .accepted: return Finding(what: "the device token is live, for \(topic) at \(server.name)")
        case .unreachable(let reason):
            return Finding(what: "\(server.name) cannot be asked: \(reason)", remedy: "try again", isProblem: true)
        case .refused(let refused): refusal = refused
        }
        guard refusal.reason == .badDeviceToken, let other, let environment = other.environment,
            let own = server.environment, case .accepted = await probe(token, other)
        else { return finding(refusal) }
        return Finding(
            what: "the device token is one of \(environment.rawValue), not of \(own.rawValue)",
            remedy: "send with --apple \(environment.rawValue); the build of the app decides it", isProblem: true)
    }

    // MARK: Requests

    private enum Answer {
        case accepted
        case refused(Refusal)
        case unreachable(String)
    }

    /// A refusal as the server wrote it.
    struct Refusal {
        var status: Int
        var text: String
        /// The time since which the device token is dead.
        var since: Date?
        var reason: APNsReason? { APNsReason(rawValue: text) }
        /// Whether the credential and the topic were accepted.
        var isAboutToken: Bool {
            switch reason {
            case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken: true
            default: false
            }
        }
    }

    private func probe(_ token: String, _ server: Server) async -> Answer {
        let fields = [
            (name: "apns-topic", value: topic), ("apns-push-type", "background"), ("apns-priority", "5"),
            ("apns-expiration", "0"),
        ]
        do throws(APNsSendError) {
            let response = try await server.client.response(
                to: "/3/device/\(token)", fields: fields, body: Self.payload)
            guard response.status != 200 else { return .accepted }
            // A body that is no JSON object has no reason.
            let tree = try? JSONValue(object: response.body)
            return .refused(
                Refusal(
                    status: response.status, text: tree?["reason"]?.text ?? "HTTP \(response.status)",
                    since: tree?["timestamp"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }))
        } catch { return .unreachable(ConnectionFault.commandWords(error.detail ?? error.cause.rawValue)) }
    }
}

extension ProviderDiagnosis {
    /// The finding for a refusal, with its remedy.
    func finding(_ refusal: Refusal) -> Finding {
        let sentence = refusal.reason.map { ": \($0.sentence)" } ?? ""
        let since = refusal.since.map { ", since \(ISO8601DateFormatter().string(from: $0))" } ?? ""
        return Finding(
            what: "\(server.name) answered \(refusal.text)\(since)\(sentence)", remedy: Self.remedy(refusal),
            isProblem: true)
    }

    private static func remedy(_ refusal: Refusal) -> String {
        switch refusal.reason {
        case .invalidProviderToken:
            "the key, the key's id and the team do not belong together, or the key was revoked; look at all three in the "
                + "developer account"
        case .expiredProviderToken: "this machine's clock is wrong by more than an hour; set it right"
        case .missingProviderToken: "name a credential with --key and --team, or --p12"
        case .badEnvironmentKeyIdInToken:
            "the key is for the other environment; send with --apple of that one, or make a key for both"
        case .unrelatedKeyIdInToken, .forbidden: "the key may not send to this app; use a key whose topics contain it"
        case .badCertificate, .badCertificateEnvironment:
            "the certificate is not for this environment, has ended, or was revoked; make another"
        case .topicDisallowed, .badTopic, .missingTopic:
            "the topic is the app's bundle id, and the credential must be of the app's team"
        case .badDeviceToken:
            "the token is malformed, of the other environment, or of another server; have the app register again"
        case .deviceTokenNotForTopic: "the token is another app's; send it with that app's bundle id"
        case .unregistered, .expiredToken: "delete the token; the app registers another one when it runs"
        case .tooManyRequests, .tooManyProviderTokenUpdates, .serviceUnavailable, .shutdown, .internalServerError:
            "try again later"
        default: "the server's reason says what is wrong with the request"
        }
    }
}
