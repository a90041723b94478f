import Foundation
import RelayProtocol
import Timestamps

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

    /// The fault in an order's message; `nil` for none.
    var fault: String? {
        switch self {
        case .call(_, _, let message), .tell(_, _, let message), .send(_, let message):
            do throws(RelayFault) {
                _ = try RelayEncoder.encode(message, limits: .largestMessage)
                return nil
            } catch { return error.description }
        case .launch, .open, .file, .stream: return nil
        }
    }
}
