import APNsProtocol
import AldabaAPNs
import Foundation
import HubProtocol
import Networking
import PushCore
import Synchronization

/// The clients of APNs for hubs' credentials, each with its connections. Thread-safe.
final class AppleClients: Sendable {
    /// A client, and the check of the addresses that it connects to.
    struct Entry: Sendable {
        let client: APNsClient
        let addressGuard: AddressGuard
        fileprivate var usedAt: UInt64 = 0
    }

    private struct State {
        var entries: [Int64: Entry] = [:]
        var uses: UInt64 = 0
    }

    /// The number of clients; each has up to eight connections.
    private static let limit = 256
    /// The time in which a push must be answered, the time in the queue included.
    private static let deadline = Duration.seconds(10)

    private let rule: AddressRule
    private let state = Mutex(State())

    /// Creates an instance without clients.
    init(rule: AddressRule) { self.rule = rule }

    /// The client of a credential. A credential that replaces another has a number of its own.
    ///
    /// - Throws: ``OutboundError`` for an address that is no https, ``APNsCredential/Fault`` for a credential that cannot be
    ///   used.
    func client(of credential: PushCredential) throws -> Entry {
        if let known = use(credential.number) { return known }
        let addressGuard = AddressGuard(rule)
        var options = APNsOptions()
        options.deadline = Self.deadline
        options.waitsForConnectivity = false
        options.addressGuard = addressGuard
        let made = Entry(
            client: try APNsClient(
                credential: try Self.apnsCredential(credential), server: try Self.server(credential),
                options: options),
            addressGuard: addressGuard)
        // Another request may have made one in the meantime; a client without a request has no connection.
        return state.withLock { state in
            if let known = state.entries[credential.number] { return known }
            if state.entries.count >= Self.limit {
                // Its connections close with its last request.
                let oldest = state.entries.min { $0.value.usedAt < $1.value.usedAt }
                if let oldest { state.entries[oldest.key] = nil }
            }
            state.uses += 1
            var entry = made
            entry.usedAt = state.uses
            state.entries[credential.number] = entry
            return entry
        }
    }

    private func use(_ number: Int64) -> Entry? {
        state.withLock { state in
            state.uses += 1
            state.entries[number]?.usedAt = state.uses
            return state.entries[number]
        }
    }

    private static func apnsCredential(_ credential: PushCredential) throws(APNsCredential.Fault) -> APNsCredential {
        credential.kind == .apnsCertificate
            ? try .certificate(pem: credential.secret)
            : try .key(pem: credential.secret, keyID: credential.name, teamID: credential.owner)
    }

    private static func server(_ credential: PushCredential) throws(OutboundError) -> APNsServer {
        guard let parts = URLComponents(string: credential.address), parts.scheme == "https", let host = parts.host,
            !host.isEmpty
        else { throw OutboundError("the address of the push service is not https://host", isForbidden: true) }
        return APNsServer(
            host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: parts.port ?? 443,
            authorities: credential.authority)
    }
}
