import Logging
import Metrics
import NIOCore
import PushCore
import Synchronization

/// The connections of one listener: admits new ones, and closes those that they replace. Thread-safe.
package final class ConnectionLimiter: Sendable {
    /// The limits and exemptions of a limiter.
    package struct Configuration: Sendable {
        /// The maximum numbers of connections.
        package var limits: ConnectionSlots<ObjectIdentifier>.Limits
        /// Addresses that the limit for one address does not bound: proxies, each of which represents many clients.
        package var exempt: [AddressRange]
        /// The time within which a connection must prove itself.
        package var proofTimeout: TimeAmount

        /// Creates the configuration of one listener; without an exemption every address is counted.
        package init(
            limits: ConnectionSlots<ObjectIdentifier>.Limits, exempt: [AddressRange] = [],
            proofTimeout: TimeAmount = .seconds(30)
        ) {
            self.limits = limits
            self.exempt = exempt
            self.proofTimeout = proofTimeout
        }

        /// The configuration of a listener that asks for no credential: the oldest connection is closed for a new one,
        /// and one on which nothing was served for a minute is closed.
        package static func withoutCredentials(total: Int) -> Configuration {
            Configuration(
                limits: .init(total: total, perAddress: total, unproven: total), proofTimeout: .seconds(60))
        }
    }

    private struct State {
        var slots: ConnectionSlots<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let configuration: Configuration
    private let state: Mutex<State>
    private let report: RefusalReport
    private let open: Meter

    /// Creates the limiter of one listener, without connections.
    ///
    /// - Parameter listener: The listener's name in metrics and log lines.
    package init(listener: String, _ configuration: Configuration, logger: Logger) {
        self.configuration = configuration
        state = Mutex(State(slots: ConnectionSlots(limits: configuration.limits)))
        report = RefusalReport(listener: listener, logger: logger)
        open = Meter(label: "aldaba_connections", dimensions: [("listener", listener)])
    }

    /// The number of open connections.
    package var count: Int { state.withLock { $0.slots.count } }

    /// Counts a connection that its protocol turns away because of its own rate limit.
    package func rejected() { report.refused(.busy) }

    /// The address that a channel counts against; `nil` where it counts against none.
    package func address(of channel: any Channel) -> ClientAddress? {
        guard let remote = channel.remoteAddress, !configuration.exempt.contains(where: { $0.contains(remote) }) else {
            return nil
        }
        return ClientAddress(remote)
    }

    /// Admits a channel that was just accepted, and adds its first handler; call it on the channel's event loop,
    /// before any other handler is added.
    ///
    /// - Returns: `false` when the channel must be closed.
    package func admit(_ channel: any Channel) -> Bool {
        let connection = ObjectIdentifier(channel)
        let address = address(of: channel)
        let (decision, givenUp) = state.withLock { state in
            let decision = state.slots.opened(connection, from: address)
            if case .refused = decision { return (decision, nil as (any Channel)?) }
            state.channels[connection] = channel
            guard case .replacing(let oldest) = decision else { return (decision, nil) }
            return (decision, state.channels.removeValue(forKey: oldest))
        }
        switch decision {
        case .refused(let refusal):
            report.refused(refusal)
            return false
        case .replacing:
            report.replaced()
            givenUp?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Replaced())
        case .admitted: break
        }
        open.increment()
        do {
            try channel.pipeline.syncOperations.addHandler(AdmissionHandler(proofTimeout: configuration.proofTimeout))
            channel.closeFuture.whenComplete { [self] _ in closed(connection) }
            return true
        } catch {
            // The channel is closed already.
            closed(connection)
            return false
        }
    }

    /// Marks the connection of a channel as proven, since the peer has presented a valid credential.
    package func proven(_ channel: any Channel) {
        guard state.withLock({ $0.slots.proven(ObjectIdentifier(channel)) }) else { return }
        channel.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Proven())
    }

    /// A request of a channel was served that needs no credential: an unproven connection may stay for the whole time again,
    /// and is closed for new ones as before.
    package func served(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Served())
    }

    private func closed(_ connection: ObjectIdentifier) {
        open.decrement()
        state.withLock { state in
            state.slots.closed(connection)
            state.channels[connection] = nil
        }
    }
}

/// Counts refusals, and logs them at most once in ten seconds.
private final class RefusalReport: Sendable {
    private let listener: String
    private let logger: Logger
    private let refusals: [ConnectionRejection: Counter]
    private let replacements: Counter
    private let limit = Mutex(MessageLimit(milliseconds: 10_000))

    init(listener: String, logger: Logger) {
        self.listener = listener
        self.logger = logger
        refusals = Dictionary(
            uniqueKeysWithValues: ConnectionRejection.allCases.map {
                (
                    $0,
                    Counter(
                        label: "aldaba_connections_refused_total",
                        dimensions: [("listener", listener), ("reason", $0.rawValue)])
                )
            })
        replacements = Counter(label: "aldaba_connections_replaced_total", dimensions: [("listener", listener)])
    }

    func refused(_ refusal: ConnectionRejection) {
        refusals[refusal]?.increment()
        let reason =
            switch refusal {
            case .full: "all slots are taken"
            case .addressFull: "an address has as many as it may"
            case .busy: "more come at a time than may log in; they are told when to come again"
            }
        log("connections are refused: \(reason)")
    }

    func replaced() {
        replacements.increment()
        log("connections without a valid credential give way to new ones")
    }

    private func log(_ text: String) {
        let now = Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
        guard let count = limit.withLock({ $0.count(at: now) }) else { return }
        logger.warning("\(text)", metadata: [LogKey.listener: "\(listener)", LogKey.count: "\(count)"])
    }
}
