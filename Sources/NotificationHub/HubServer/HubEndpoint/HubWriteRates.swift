import Metrics
import NIOCore
import Networking
import PushCore
import PushServer
import Synchronization

/// A credential by which a request may write installations.
package struct HubWriter: Hashable, Sendable {
    /// The name of the key; `nil` where the request needs no credential.
    package var key: String?
    /// Whether anybody may have the credential: keys that only listen, and those of the tutorial's backend, are in every copy of
    /// an app, and the development listener asks for none.
    package var isPublished: Bool
}

/// The rates at which installations are written by keys that anybody may have: of each key, and of each client's address. Shared
/// by all listeners. Thread-safe.
///
/// The writes of a team's own keys are not counted: the team is known, and waits for its own work alone.
package final class HubWriteRates: Sendable {
    /// Writes in a second from one address.
    package static let perAddress = 50
    /// Writes from one address that may come at once: those of many phones behind one.
    package static let addressBurst = 5000
    /// Addresses whose writes are counted at a time.
    package static let mostAddresses = 16_384
    /// Keys whose writes are counted at a time.
    static let mostKeys = 4096

    private struct Key: Hashable, Sendable {
        var hub: Int64
        var name: String?
        var perSecond: Int
    }

    private struct State {
        var keys = TokenBuckets<Key>(limit: HubWriteRates.mostKeys)
        var addresses = TokenBuckets<ClientAddress>(limit: HubWriteRates.mostAddresses)
    }

    private let proxies: [AddressRange]
    private let servers: @Sendable () -> Int
    private let refusals = Dictionary(
        uniqueKeysWithValues: HubQuota.names.map { name in
            (name, Counter(label: "aldaba_hub_refusals_total", dimensions: [("quota", name)]))
        })
    private let state = Mutex(State())

    /// Full rates.
    ///
    /// - Parameters:
    ///   - proxies: Addresses behind which are many clients.
    ///   - servers: The number of servers that share the hubs. Each takes its part of every rate.
    package init(proxies: [AddressRange] = [], servers: @escaping @Sendable () -> Int = { 1 }) {
        self.proxies = proxies
        self.servers = servers
    }

    /// The number of addresses whose writes are counted now.
    var addresses: Int { state.withLock { $0.addresses.count } }

    /// Counts a write.
    ///
    /// - Parameters:
    ///   - address: The client's; `nil` where it has none.
    ///   - isSecured: `false` on the development listener, where no address is a proxy's.
    /// - Returns: The rate that the write would pass; `nil` where it may be made.
    package func take(
        by writer: HubWriter, of hub: HubRecord, from address: SocketAddress?, isSecured: Bool, at now: Timestamp
    ) -> HubQuota? {
        guard writer.isPublished else { return nil }
        let client = isSecured && isProxy(address) ? nil : ClientAddress(address)
        let perSecond = hub.limits.writesPerSecond
        let part = 1 / Double(max(1, servers()))
        return state.withLock { state in
            if let client,
                let seconds = state.addresses.take(
                    client, capacity: max(1, Double(Self.addressBurst) * part),
                    perSecond: Double(Self.perAddress) * part, at: now)
            {
                return .writes(.address, retryAfter: seconds)
            }
            let key = Key(hub: hub.number, name: writer.key, perSecond: perSecond)
            return state.keys.take(
                key, capacity: max(1, Double(perSecond * HubLimits.burst) * part),
                perSecond: Double(perSecond) * part, at: now
            ).map { .writes(.key, retryAfter: $0) }
        }
    }

    /// Counts what a quota has refused; other errors are not counted.
    func countRefusal(_ error: any Error) {
        if case HubError.quota(let quota) = error { refusals[quota.name]?.increment() }
    }

    private func isProxy(_ address: SocketAddress?) -> Bool {
        address.map { address in proxies.contains { $0.contains(address) } } ?? false
    }
}

/// The writes of a listener, counted.
struct HubWriteGate: Sendable {
    let rates: HubWriteRates
    let isSecured: Bool

    /// Counts a write of a request.
    ///
    /// - Throws: ``HubError`` where a rate would be passed.
    func check(_ writer: HubWriter, _ hub: HubRecord, from channel: any Channel, at now: Timestamp) throws(HubError) {
        let quota = rates.take(by: writer, of: hub, from: channel.remoteAddress, isSecured: isSecured, at: now)
        if let quota { throw .quota(quota) }
    }
}
