import Foundation
import HubServer
import PushCore
import PushServer
import SQLiteStore
import Synchronization

/// The entries of the register and of the hubs that commands change, as the log names them.
final class RegisterEntries: Sendable {
    private let store: any ServerStore
    private let hub: HubDatabase
    /// The hubs' entries as they were read last: a hubs' database that cannot be read has lost none.
    private let hubEntries = Mutex<[String: String]>([:])

    init(_ store: any ServerStore, hub: HubDatabase) {
        self.store = store
        self.hub = hub
    }

    /// The state of each entry, by its name; a state has no secret.
    func all() async throws -> [String: String] {
        var entries = try await registered()
        if let read = try? await hub.registerEntries() { hubEntries.withLock { $0 = read } }
        entries.merge(hubEntries.withLock { $0 }) { $1 }
        return entries
    }

    private func registered() async throws -> [String: String] {
        let register = store.register
        var entries: [String: String] = [:]
        var topics: [AppID: Topic] = [:]
        for app in try await register.apps() {
            topics[app.id] = app.topic
            entries["app \(app.topic)"] =
                "team \(app.team), limit \(app.policy.limit), overflow \(app.policy.overflow.rawValue), "
                + (app.isPushEnabled ? "enabled" : "disabled") + (app.name.map { ", name \($0)" } ?? "")
        }
        for webhook in try await store.webhooks() {
            guard let topic = topics[webhook.app] else { continue }
            // A path or a query may hold a secret of the receiver's.
            entries["webhook of app \(topic)"] =
                "host \(URL(string: webhook.url)?.host ?? "-"), set at \(webhook.setAt)"
        }
        for team in try await register.teams() { entries["team \(team.id)"] = "name \(team.name)" }
        for key in try await register.providerKeys() { entries["provider key \(key.keyID)"] = "team \(key.team)" }
        for key in try await register.enrolmentKeys() {
            entries["enrolment key \(key.id)"] = key.revokedAt == nil ? "valid" : "revoked"
        }
        for certificate in try await register.providerCertificates() {
            entries["provider certificate \(certificate.certificateID)"] =
                certificate.revokedAt == nil ? "team \(certificate.team)" : "revoked"
        }
        for authority in try await register.certificateAuthorities() {
            entries["certificate authority \(authority.authorityID)"] = "team \(authority.team)"
        }
        for account in try await register.serviceAccounts() {
            entries["service account key \(account.keyID)"] =
                account.revokedAt == nil ? "\(account.email), team \(account.team)" : "revoked"
        }
        for (device, since) in try await register.blockedDevices() {
            entries["block of device \(device)"] = "since \(since)"
        }
        return entries
    }
}
