import NIOCore
import Synchronization

/// A check of the addresses that a client connects to, which remembers whether it refused the latest ones. Thread-safe.
package final class AddressGuard: Sendable {
    private let rule: AddressRule
    private let refused = Atomic(false)

    /// Creates a guard by a rule.
    package init(_ rule: AddressRule) { self.rule = rule }

    /// Whether the latest addresses were refused.
    package var hasRefused: Bool { refused.load(ordering: .relaxed) }

    /// Checks the addresses of a host.
    ///
    /// - Throws: ``OutboundError`` for a host with an address that the rule refuses.
    package func check(_ addresses: [SocketAddress]) throws(OutboundError) {
        let refusal = addresses.lazy.compactMap { self.rule.refusal(of: $0) }.first
        refused.store(refusal != nil, ordering: .relaxed)
        if let refusal {
            throw OutboundError("its host has \(refusal); webhook-networks can allow it", isForbidden: true)
        }
    }
}
