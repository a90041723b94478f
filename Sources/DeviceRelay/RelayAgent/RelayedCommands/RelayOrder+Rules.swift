import CoreValues
import Foundation
import RelayProtocol

/// The rules by which a client's order becomes a command.
extension RelayOrder {
    /// Whether it may be given to a device of another person's.
    var isForOthers: Bool {
        switch self {
        case .call, .open, .send: true
        case .launch, .tell, .file, .stream: false
        }
    }

    /// Whether a device is woken for it.
    var wakes: Bool {
        switch self {
        case .call, .open, .launch: true
        case .tell, .send, .file, .stream: false
        }
    }

    /// The hash that tells two commands of the same id apart. A ping's message is left out: it holds the time.
    func mark(for device: String) -> Int {
        var hasher = Hasher()
        hasher.combine(device)
        if case .call(RelayHost.ownApp, RelayHost.pingService, _) = self {
            hasher.combine(RelayHost.pingService)
        } else {
            hasher.combine(self)
        }
        return hasher.finalize()
    }

    /// The time at which a command is given up. Repetitions in transit must not outlive the memory of ids at the
    /// target.
    ///
    /// - Parameters:
    ///   - waits: Whether the server keeps the command for a device that is away.
    ///   - isWakeable: Whether the device is suspended, and can be woken.
    func end(deadline: Timestamp?, waits: Bool, isWakeable: Bool, at now: Timestamp) -> Timestamp {
        switch self {
        case .file, .stream: return min(deadline ?? now + OutgoingFiles.timeout, now + OutgoingFiles.timeout)
        case .tell: return now + RelayHost.timeout
        case .launch, .call, .open, .send:
            let end = min(deadline ?? now + RelayHost.timeout, now + RelayHost.longestTimeout)
            return waits || isWakeable && wakes ? min(end, now + RelayHost.waitingTimeout) : end
        }
    }

    /// The content that is sent to the device.
    ///
    /// - Parameters:
    ///   - caller: The app that gives the order.
    ///   - connection: The connection of an order that is sent over one.
    func content(
        from caller: String, over connection: CallConnections.Connection?, firstGivenAt: Int64?
    ) -> RelayContent {
        switch self {
        case .launch(let uri, let app, let fallback, let preferredApps, let input):
            var launch = RelayLaunch(
                uri: uri, app: app, fallback: fallback, preferredApps: preferredApps, caller: caller)
            launch.input = input
            launch.firstGivenAt = firstGivenAt
            return .launch(launch)
        case .tell(let app, let service, let message):
            return .call(RelayCall(app: app, service: service, caller: caller, message: message))
        case .call(let app, let service, let message):
            var call = RelayCall(app: app, service: service, caller: caller, message: message)
            call.firstGivenAt = firstGivenAt
            return .call(call)
        case .open(let app, let service): return .open(app: app, service: service, caller: caller)
        case .file(_, let offer), .stream(let offer): return .offer(offer)
        case .send(let id, let message):
            var call = RelayCall(
                app: connection?.app ?? "", service: connection?.service ?? "", caller: caller, connection: id,
                message: message)
            call.firstGivenAt = firstGivenAt
            return .call(call)
        }
    }

    /// The refusal of an order that no device would carry out; `nil` for none.
    var refusal: RelayOutcome? {
        switch self {
        case .launch(let uri, _, let fallback, _, _):
            if let fault = AddressRule.fault(of: uri) { return RelayOutcome(.refusedHere, detail: fault) }
            guard let fallback, AddressRule.scheme(of: fallback) != "https" else { return nil }
            return RelayOutcome(.refusedHere, detail: "the fallback is not the address of an https page")
        case .call(let app, let service, _) where app.isEmpty || service.isEmpty,
            .tell(let app, let service, _) where app.isEmpty || service.isEmpty,
            .open(let app, let service) where app.isEmpty || service.isEmpty:
            return RelayOutcome(.refusedHere, detail: "a service has a name, and the bundle id of its app")
        case .call(_, _, let message), .tell(_, _, let message), .send(_, let message):
            do throws(RelayFault) {
                _ = try RelayEncoder.encode(message, limits: .largestMessage)
                return nil
            } catch { return RelayOutcome(.tooLarge, detail: error.description) }
        case .open, .file, .stream: return nil
        }
    }

    /// The reason why a client may not send a file or a stream; `nil` where it may.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the client is a person's terminal.
    ///   - streams: The files and streams in progress.
    func excess(isTerminal: Bool, streams: RelayStreams) -> RelayOutcome? {
        switch self {
        case .launch, .call, .tell, .open, .send: return nil
        case .file(_, let offer):
            guard isTerminal else {
                return RelayOutcome(.notAuthorized, detail: "only a person at a terminal sends files")
            }
            guard streams.outgoing.hasCapacity, offer.size >= 0 else {
                return RelayOutcome(.resourceLimits, detail: "\(IncomingFiles.limit) files are under way")
            }
        case .stream(let offer):
            guard streams.apps.hasCapacity else {
                return RelayOutcome(.resourceLimits, detail: "\(IncomingFiles.limit) streams are under way")
            }
            guard offer.app != nil, offer.service != nil else {
                return RelayOutcome(.serviceUnavailable, detail: "a stream is for a service of an app")
            }
        }
        return nil
    }

    /// The reason why an order cannot be sent to a device; `nil` where it can.
    ///
    /// - Parameters:
    ///   - devices: The person's devices.
    ///   - others: Other persons' devices.
    ///   - obstacle: The reason why devices are not known now.
    func failureReason(
        to device: String, among devices: KnownDevices, _ others: OtherUsersDevices, waits: Bool, obstacle: String?
    ) -> RelayOutcome? {
        guard devices.isKnown else { return RelayOutcome(.networkUnavailable, detail: obstacle) }
        let own = devices[device]
        guard let target = own ?? others.hosts[device], device != devices.ownID else {
            return RelayOutcome(.unknownDevice, detail: "none of your devices has the id \(device)")
        }
        if own == nil, !isForOthers {
            return RelayOutcome(
                .refusedHere, detail: "\(target.name) is another person's device: only its services can be asked")
        }
        if case .tell = self {
            return devices.isOpen
                ? nil : RelayOutcome(.networkUnavailable, detail: "there is no way to the server now")
        }
        guard target.presence == .online || target.presence == .wakeable && wakes || waits else {
            return RelayOutcome(.notDelivered, detail: "\(target.name) is not connected")
        }
        return nil
    }
}
