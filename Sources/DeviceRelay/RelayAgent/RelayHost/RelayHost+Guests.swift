import Crypto
import Foundation
import RelayProtocol

/// Other users' devices, which call services that are open to anyone here, or whose services are called from here.
///
/// The server alone vouches for such a device's key. A grant of the user to such a device is bound to that key.
extension RelayHost {
    // MARK: Asking others

    mutating func find(_ device: String, _ number: Int64, _ client: ClientNumber) {
        guard directory.isOpen, directory.devices != nil else {
            return answer(client, number, RelayOutcome(.networkUnavailable, detail: obstacle?.why))
        }
        guard directory.finds.count < RelayDevice.guestLimit,
            directory.finds[device, default: []].count < RelayDevice.guestLimit
        else {
            return answer(client, number, RelayOutcome(.resourceLimits, detail: "other devices are being looked for"))
        }
        directory.finds[device, default: []].append((client, number))
        directives.append(.send(.find(device: device)))
    }

    mutating func found(_ device: RelayDevice) {
        guard let askers = directory.finds.removeValue(forKey: device.id), directory.devices?[device.id] == nil else {
            return
        }
        guard directory.hosts.count < RelayDevice.guestLimit || directory.hosts[device.id] != nil else {
            return tell(askers, RelayOutcome(.resourceLimits, detail: "too many devices of others are known here"))
        }
        directory.hosts[device.id] = device
        for (client, request) in askers { directives.append(.tell(client, .found(request: request, device))) }
    }

    mutating func notFound(_ device: String) {
        let detail = "no device \(device) is there that offers anything to anyone"
        tell(directory.finds.removeValue(forKey: device) ?? [], RelayOutcome(.unknownDevice, detail: detail))
    }

    private mutating func tell(_ askers: [(client: ClientNumber, request: Int64)], _ outcome: RelayOutcome) {
        for (client, request) in askers { answer(client, request, outcome) }
    }

    /// Discards all state about other users' devices when the session ends.
    mutating func forgetOthers() {
        for guest in directory.guests.keys { forgetParked(of: guest) }
        directory.guests = [:]
        directory.hosts = [:]
        let askers = directory.finds.values.flatMap { $0 }
        directory.finds = [:]
        tell(askers, RelayOutcome(.networkUnavailable, detail: "the way to the server was lost"))
    }

    // MARK: Others that ask

    mutating func visited(_ device: RelayDevice) {
        guard device.key.count == 32, directory.devices?[device.id] == nil, device.id != directory.ownID else { return }
        guard directory.guests.count < RelayDevice.guestLimit || directory.guests[device.id] != nil else { return }
        // With another key it is another device, about which the user was not asked.
        if let known = directory.guests[device.id], known.key != device.key { forgetParked(of: device.id) }
        directory.guests[device.id] = device
    }

    /// Handles a frame from another user's device, which may call services open to anyone and answer requests sent to
    /// it.
    mutating func arrivedFromGuest(_ route: RelayRoute, _ now: Int64) {
        guard directory.guests[route.peer] != nil || directory.hosts[route.peer] != nil,
            directory.devices?[route.peer] == nil,
            let content = try? RelayContent(route.body)
        else { return }
        switch content {
        case .executing, .outcome, .close, .cancel: arrived(route, now)
        case .call(let call) where directory.guests[route.peer] != nil || call.connection != nil:
            carryOut(content, route: route, at: now)
        case .open where directory.guests[route.peer] != nil: carryOut(content, route: route, at: now)
        default:
            reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(
                    .denied, detail: "a device of another person's may only ask services that are open to anyone"))
        }
    }

    func refusal(of service: String, _ app: String, toGuest guest: RelayDevice) -> RelayOutcome? {
        let offered = provider(of: service, app: app)
        let isOpen =
            offered.map { $0.service.access == .anyone }
            ?? (settings.offers?[app]?.services[service] == RelayService.Access.anyone.rawValue)
        guard app != Self.ownApp, isOpen else {
            return RelayOutcome(.serviceUnavailable, detail: "\(app) does not offer the service \(service)")
        }
        if isDenied(guest.id, app: app, service: service) { return Self.denied }
        if let obstacle = obstacleToGrant(grantee(guest.id), app: app, service: service, isGuests: true) {
            return obstacle
        }
        return offered == nil ? RelayOutcome(.appNotInstalled) : nil
    }

    /// To whom a grant is given: a device of the person's, or another's by its id and key.
    func grantee(_ device: String) -> String {
        guard let guest = directory.guests[device] else { return device }
        let mark = SHA256.hash(data: guest.key).prefix(8).map { String(UInt16($0) + 256, radix: 16).suffix(2) }
        return device + "#" + mark.joined()
    }
}

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
}
