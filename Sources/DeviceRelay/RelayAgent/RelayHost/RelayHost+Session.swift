import CoreValues
import Foundation
import RelayProtocol

/// The session with the server, and the presence of other devices: the user's, and other persons'.
extension RelayHost {
    /// The session with the server is open.
    package mutating func sessionOpened(at now: Timestamp) -> [Directive] {
        devices.isOpen = true
        work.answered.begin(at: now.rawValue)
        sayHello()
        return takeDirectives(at: now)
    }

    /// The session with the server ended. The outcome of everything in transit through the server is unknown.
    package mutating func sessionClosed(at now: Timestamp) -> [Directive] {
        devices.isOpen = false
        devices.forgetListed()
        forgetOthers()
        perform(pairing.fail("the way to the server was lost"), at: now)
        queuedMessagesLost(at: now)
        withDocuments { $0.lost() }
        for device in devicesInProgress.subtracting(devices.direct) {
            lost(device, detail: "the way to the server was lost", at: now)
        }
        tellWatchers()
        return takeDirectives(at: now)
    }

    /// A frame came from the server, or directly.
    ///
    /// - Parameter isGuests: Whether it is from a device of another user.
    package mutating func received(_ frame: RelayFrame, isGuests: Bool = false, at now: Timestamp) -> [Directive] {
        // After a suspension a frame may come before what fell due.
        endGrants(at: now)
        switch frame {
        case .welcome(let device, _, let all, let undescribed):
            welcomed(as: device, all: all, undescribed: undescribed, at: now)
        case .changed(_, let device):
            devices.undescribed.remove(device.id)
            let wasHere = devices.isOnline(device.id)
            devices.listed?[device.id] = device
            if !wasHere { sendList(to: device.id) }
            offerAgain(to: device.id)
            reportOutcomes(to: device.id)
            resumeConnections(with: device.id, at: now)
            tellWatchers()
        case .removed(_, let device) where device == devices.ownID: dismissed(at: now)
        case .removed(_, let device):
            gone(device, at: now)
            tellWatchers()
        case .interrupted(let device) where devices.direct.contains(device):
            // The connection of the two devices' own is there still.
            break
        case .interrupted(let device): lost(device, detail: "the device went away before it answered", at: now)
        case .route(let route) where isGuests: arrivedFromGuest(route, at: now)
        case .route(let route): arrived(route, at: now)
        case .found(let device): found(device)
        case .notFound(let device):
            let detail = "no device \(device) is there that offers anything to anyone"
            answer(others.takeRequests(for: device) ?? [], RelayOutcome(.unknownDevice, detail: detail))
        case .visited(let device): addGuest(device)
        case .queuedMessage(let queuedMessage): arrived(queuedMessage, at: now)
        case .queuedMessageKept(let id): queuedMessageKept(id, at: now)
        case .recalled(let id, let didWait): recalled(id, didWait: didWait)
        case .documentAnswer(let id, let told): withDocuments { $0.answered(id, told, at: now) }
        case .documentsChanged: withDocuments { $0.changed(at: now) }
        case .undelivered(let id, let reason): undelivered(id, reason: reason, at: now)
        case .refused(let why):
            refusal = why
            // A pairing that still waits for the other device ends with it.
            if pairing.isWaiting { perform(pairing.fail(why), at: now) }
            for client in clients.watchers { directives.append(.tell(client, .watchFailed(.refused, why))) }
        case .peerJoined(let device): perform(pairing.peerJoined(device), at: now)
        // Changes come as what follows from them.
        case .changes: break
        case .hello, .goodbye, .dismiss, .meet, .find, .withdraw, .queuedMessageTaken, .recall, .documentRequest,
            .unknown:
            break
        }
        return takeDirectives(at: now)
    }

    // MARK: This device

    /// Sends the server this device's account and offers; nothing where it belongs to no account.
    mutating func sayHello() {
        introduce()
        guard devices.isOpen, let account = settings.account else { return }
        directives.append(.send(.hello(token: account.accessToken, describedDevice, wake: settings.wake)))
    }

    /// This device as its server describes it to others.
    var describedDevice: RelayDevice {
        let own = RelayApp(
            id: Self.ownApp, name: "Aldaba", services: [Self.pingService] + offeredOwnServices.sorted())
        var device = RelayDevice(
            id: devices.ownID ?? "", name: settings.name, kind: settings.kind,
            apps: clients.described(with: own, remembered: settings.offers))
        (device.manufacturer, device.model) = (machine.manufacturer, machine.model)
        return device
    }

    /// This device has its id, from an earlier session with the server.
    package mutating func isCalled(_ device: String) { devices.ownID = device }

    /// Handles the server's list of devices; sent when a session begins, and after the server could not send changes.
    private mutating func welcomed(as own: String, all: [RelayDevice], undescribed: [String], at now: Timestamp) {
        devices.ownID = own
        refusal = nil
        let told = Dictionary(all.map { ($0.id, $0) }) { $1 }
        for id in (devices.listed ?? [:]).keys where told[id] == nil { gone(id, at: now) }
        devices.listed = told
        devices.undescribed = Set(undescribed).intersection(told.keys).subtracting([own])
        offerAgain()
        joinList()
        reportOutcomes()
        resumeConnections(at: now)
        withDocuments { $0.resumeMove(at: now) }
        withDocuments { $0.changed(at: now) }
        tellWatchers()
    }

    // MARK: Watchers

    /// Sends the clients that watch devices the changes that they do not know.
    mutating func tellWatchers() {
        for client in clients.members.keys { tellWatcher(client) }
    }

    /// Sends a client that watches devices the changes that it does not know.
    mutating func tellWatcher(_ client: ClientNumber) {
        guard var watcher = clients[client]?.watcher, watcher.isOn else { return }
        let notices: [RelayNotice]
        if let others = devices.others {
            notices = watcher.update(others, undescribed: devices.undescribed)
        } else {
            let (obstacle, why) = obstacle ?? (.notConnected, "this device is not connected to its server")
            notices = watcher.fail(obstacle, why: why)
        }
        clients[client]?.watcher = watcher
        directives += notices.map { .tell(client, $0) }
    }

    /// The reason why devices cannot be found now; `nil` where they can.
    var obstacle: (kind: DiscoveryFailure, why: String)? {
        if settings.account == nil {
            let why =
                "this device belongs to no account; `aldaba relay account show` on a device of yours tells its key, and "
                + "`aldaba relay account join KEY` joins here"
            return (.noAccount, why)
        }
        if let refusal { return (.refused, refusal) }
        return devices.isKnown ? nil : (.notConnected, "this device is not connected to its server")
    }

    /// A device's name; `nil` for one that is not known.
    package func name(of device: String) -> String? { (devices[device] ?? others[device])?.name }

    // MARK: Direct connections

    /// A device is reached without the server from now on, or not any more.
    package mutating func reached(_ device: String, isDirect: Bool, at now: Timestamp) -> [Directive] {
        if isDirect {
            devices.direct.insert(device)
            work.answered.begin(at: now.rawValue)
            introduce(to: device)
            sendList(to: device)
            if !devices.isListedOnline(device) { offerAgain(to: device) }
            resumeConnections(with: device, at: now)
        } else {
            devices.direct.remove(device)
            if !devices.isListedOnline(device) { devices.introduced[device] = nil }
        }
        tellWatchers()
        return takeDirectives(at: now)
    }

    /// A device is unreachable: messages in transit to it may have arrived or not.
    package mutating func lost(_ device: String, at now: Timestamp) -> [Directive] {
        devices.introduced[device] = nil
        lost(device, detail: "the device went away before it answered", at: now)
        // It may be back by the server already.
        resumeConnections(with: device, at: now)
        tellWatchers()
        return takeDirectives(at: now)
    }

    /// Sends this device's description to one directly connected device, or to all of them.
    private mutating func introduce(to device: String? = nil) {
        guard devices.ownID != nil else { return }
        let own = describedDevice
        for other in devices.direct.sorted() where device == nil || other == device {
            send(.introduction(own), to: other)
        }
    }

    /// Handles a device's description of itself.
    mutating func introduced(_ device: RelayDevice, as id: String, at now: Timestamp) {
        guard id != devices.ownID else { return }
        var seen = device
        seen.id = id
        seen.presence = .online
        seen.reach = nil
        let isNew = devices.introduced[id] == nil
        devices.introduced[id] = seen
        guard devices.direct.contains(id) else { return }
        if isNew, !devices.isListedOnline(id) {
            sendList(to: id)
            offerAgain(to: id)
        }
        resumeConnections(with: id, at: now)
        tellWatchers()
    }

    // MARK: Losses

    /// A device is none of the user's any more, or another user's device has gone.
    mutating func gone(_ device: String, at now: Timestamp) {
        devices.forget(device)
        others.forget(device)
        for id in streams.outgoing.ids(to: device) {
            end(id, RelayOutcome(.unknownDevice, detail: "the device is none of yours any more"), at: now)
            directives += streams.outgoing.discard(id)
        }
        lost(device, detail: "the device went away before it answered", isForGood: true, at: now)
        // No caller waits for the requests of its apps.
        for (number, task) in work.tasks where task.device == device && task.client != nil { abandon(task, number) }
        forgetDeferred(of: device)
    }

    /// Discards the deferred commands of a device that has gone: a device that comes back under its id may be another.
    private mutating func forgetDeferred(of device: String) {
        for (number, task) in work.tasks where task.device == device && task.call != nil {
            if task.isAsked { directives.append(.withdraw(ticket: number)) }
            abandon(task, number)
        }
    }

    /// The devices with which a command, stream, connection or task is in progress.
    private var devicesInProgress: Set<String> {
        let others = connections.open.values.map(\.device) + work.tasks.values.map(\.device)
        return Set(streams.devices + others + ledger.underWay().compactMap { ledger[$0]?.device })
    }

    /// Ends everything when this device belongs to its account no more: no device answers it.
    mutating func endAll(_ detail: String, at now: Timestamp) {
        for device in devicesInProgress {
            lost(device, detail: detail, isForGood: true, at: now)
            forgetDeferred(of: device)
            for id in streams.outgoing.ids(to: device) where ledger[id] == nil {
                directives += streams.outgoing.discard(id)
            }
        }
        for id in ledger.underWay() {
            let hasLeft = ledger[id].map { $0.life != .requesting } ?? false
            end(id, RelayOutcome(hasLeft ? .outcomeUnknown : .notDelivered, detail: detail), at: now)
        }
    }

    /// Handles the loss of a device. Whatever was in transit to it may have arrived or not.
    ///
    /// - Parameter isForGood: Whether it does not come back; connections between apps wait for it otherwise.
    private mutating func lost(_ device: String, detail: String, isForGood: Bool = false, at now: Timestamp) {
        let times = CallConnections.Times(settings)
        for id in connections.suspend(with: device, isForGood: isForGood, times: times, at: now) {
            lose(id, reason: .unknown, detail: detail, at: now)
        }
        streams.outgoing.suspend(to: device)
        for (id, file) in streams.incoming.files where file.device == device { discardIncoming(id) }
        directives += streams.apps.discard(with: device)
        for id in ledger.underWay(to: device)
        where streams.outgoing[id] == nil && !connections.isKept(id, ledger: ledger)
            && ledger[id]?.isQueuedMessage != true
        {
            let isWaiting = ledger.isWaiting(id)
            if isWaiting, !isForGood, ledger[id]?.waits == true { continue }
            end(id, RelayOutcome(isWaiting ? .notDelivered : .outcomeUnknown, detail: detail), at: now)
        }
        // Tasks here continue, and their responses are kept for a repeated command.
        work.limitDeadlines(of: device, to: now + Self.longestTimeout)
    }

    private mutating func undelivered(_ id: UUID, reason: RelayUndelivered, at now: Timestamp) {
        let outcome = reason.outcome
        if streams.outgoing[id] != nil, [.unavailable, .notJoined, .notWoken].contains(reason) {
            // It is offered again when the device is back.
            return streams.outgoing.suspend(id)
        }
        let devices = devices
        let repeated = messages.reports.undelivered(id, reason: reason) { devices.isOnline($0) && devices.canReach($0) }
        if let repeated { return directives += repeated }
        if ledger[id] == nil && queuedMessageEnded(id, outcome) { return }
        if ledger[id] == nil { directives += streams.outgoing.discard(id) }
        let times = CallConnections.Times(settings)
        if let effects = connections.askAgain(id, reason: reason, ledger: ledger, times: times, at: now) {
            return perform(effects, at: now)
        }
        end(id, ledger.isRepeated(id) ? RelayOutcome(.outcomeUnknown) : outcome, at: now)
    }

    /// A device is back, or some are: connections with them go on.
    private mutating func resumeConnections(with device: String? = nil, at now: Timestamp) {
        let times = CallConnections.Times(settings)
        for (device, ids) in connections.lost(with: device)
        where devices.isOnline(device) && devices.canReach(device) {
            perform(connections.resume(ids, with: device, times: times, at: now), at: now)
        }
    }

    // MARK: Other persons' devices

    private mutating func found(_ device: RelayDevice) {
        guard let requests = others.takeRequests(for: device.id) else { return }
        let own = devices.others?[device.id]
        guard own != nil || others.addHost(device) else {
            let outcome = RelayOutcome(.resourceLimits, detail: "too many devices of others are known here")
            return answer(requests, outcome)
        }
        for (client, request) in requests { directives.append(.tell(client, .found(request: request, own ?? device))) }
    }

    private mutating func answer(_ requests: [OtherUsersDevices.Request], _ outcome: RelayOutcome) {
        for (client, request) in requests { answer(client, request: request, outcome) }
    }

    /// Discards all state about other users' devices when the session ends.
    mutating func forgetOthers() {
        for guest in others.guests.keys { forgetDeferred(of: guest) }
        let outcome = RelayOutcome(.networkUnavailable, detail: "the way to the server was lost")
        answer(others.forgetAll(), outcome)
    }

    private mutating func addGuest(_ device: RelayDevice) {
        guard device.key.count == 32, devices.listed?[device.id] == nil, device.id != devices.ownID else { return }
        // With another key it is another device, about which the user was not asked.
        if others.addGuest(device) { forgetDeferred(of: device.id) }
    }

    /// Handles a frame from another user's device, which may call services open to anyone and answer requests sent to
    /// it.
    private mutating func arrivedFromGuest(_ route: RelayRoute, at now: Timestamp) {
        guard others.contains(route.peer), devices.listed?[route.peer] == nil,
            let content = try? RelayContent(route.body)
        else { return }
        let isGuest = others.guests[route.peer] != nil
        switch content {
        case .executing, .outcome, .close, .cancel: arrived(route, at: now)
        case .call(let call) where isGuest || call.connection != nil: carryOut(content, route: route, at: now)
        case .open where isGuest: carryOut(content, route: route, at: now)
        default:
            let detail = "a device of another person's may only ask services that are open to anyone"
            reply(route.id, to: route.peer, RelayOutcome(.denied, detail: detail))
        }
    }
}
