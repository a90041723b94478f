import PushCore
import PushServer
import SQLiteStore

/// The entries of the register that commands change, as the log names them.
enum RegisterEntries {
    /// The state of each entry, by its name; a state has no secret.
    static func all(_ register: SQLiteRegister) async throws -> [String: String] {
        var entries: [String: String] = [:]
        for app in try await register.apps() {
            entries["app \(app.topic)"] =
                "team \(app.team), limit \(app.policy.limit), overflow \(app.policy.overflow.rawValue), "
                + (app.isPushEnabled ? "enabled" : "disabled")
        }
        for key in try await register.providerKeys() { entries["provider key \(key.keyID)"] = "team \(key.team)" }
        for key in try await register.enrolmentKeys() {
            entries["enrolment key \(key.id)"] = key.revokedAt == nil ? "valid" : "revoked"
        }
        for certificate in try await register.providerCertificates() {
            entries["provider certificate \(certificate.certificateID)"] =
                certificate.revokedAt == nil ? "team \(certificate.team)" : "revoked"
        }
        for account in try await register.serviceAccounts() {
            entries["service account key \(account.keyID)"] =
                account.revokedAt == nil ? "\(account.email), team \(account.team)" : "revoked"
        }
        return entries
    }
}
