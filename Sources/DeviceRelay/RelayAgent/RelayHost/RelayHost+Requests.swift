import CoreValues
import Foundation
import RelayProtocol

/// The requests of apps and terminals, and the commands that leave this device for them.
extension RelayHost {
    /// The frame by which a command is sent.
    enum Departure {
        case route(RelayRoute)
        /// A message that the server keeps until its deadline.
        case queuedMessage(QueuedMessage)
    }

    /// How long after a deadline the server's response is waited for.
    private static var responseTimeout: Duration { .milliseconds(500) }

    /// Takes a request of a client.
    ///
    /// - Parameters:
    ///   - app: The client's bundle id, and `name` its name for people.
    ///   - isTerminal: Whether it is a person's terminal, which may manage the account and offers nothing.
    package mutating func take(
        _ request: RelayRequest, from client: ClientNumber, app: String, name: String, isTerminal: Bool,
        at now: Timestamp
    ) -> [Directive] {
        if !clients.contains(client) {
            clients[client] = RelayClients.Member(app: app, name: name, isTerminal: isTerminal)
        }
        switch request {
        case .publish(let number, let services, let schemes, let attributes):
            publish(services, schemes: schemes, attributes: attributes, by: client, request: number, at: now)
        case .watch(let number, let filters): watch(filters, by: client, request: number)
        case .unwatch(let number):
            clients[client]?.watcher.end()
            answer(client, request: number, RelayOutcome(.success))
        case .command(let number, let id, let device, let deadline, let waits, let order):
            begin(
                order, id: id ?? UUID.random(), device: device, deadline: deadline.map { Timestamp(rawValue: $0) },
                waits: waits, by: client, request: number, at: now)
        case .stream(let stream, let step):
            let isTalking = streams.isTalking(at: now)
            perform(streams.apps.take(step, of: stream, by: client, isTalking: isTalking, at: now), at: now)
        case .find(let number, let device): find(device, for: client, request: number)
        case .answer(let call, let outcome): finish(call, outcome, by: client, at: now)
        case .close(let number, let connection, let reason):
            close(connection, reason: reason, by: client, request: number, at: now)
        case .cancel(let number, let id): cancel(id, by: client, request: number, at: now)
        case .life(let number, let id):
            let known = ledger.life(of: id, at: now.rawValue)
            directives.append(.tell(client, .life(request: number, known?.life, known?.status, known?.detail)))
        case .document(let number, let order): document(order, of: client, request: number, at: now)
        case .manage(let number, let management): manage(management, for: client, request: number, at: now)
        case .unknown: break
        }
        return takeDirectives(at: now)
    }

    /// A client's connection to the agent is over.
    package mutating func removeClient(_ client: ClientNumber, at now: Timestamp) -> [Directive] {
        guard let member = clients[client] else { return [] }
        clients[client] = nil
        for id in ledger.underWay(of: client) {
            takeBack(id)
            departures[id] = nil
            directives += streams.outgoing.discard(id)
            directives += streams.apps.discard(id)
            if let command = ledger.end(id, .cancelled, at: now.rawValue) {
                logCommand(command, id: id, status: .cancelled)
            }
        }
        others.forget(client)
        messages.sent.forget(client)
        if pairing.isBegun(by: client) { perform(pairing.end(), at: now) }
        withDocuments { $0.removeClient(client) }
        for (id, connection) in connections.open where connection.client == client { close(id, reason: .cancelled) }
        streams.apps.discard(of: client)
        for (number, task) in work.tasks where task.client == client {
            if deliverAgain(number, task, at: now) { continue }
            settle(number, RelayOutcome(.outcomeUnknown, detail: "the app ended before it answered"), at: now)
        }
        if member.isPublished { sayHello() }
        return takeDirectives(at: now)
    }

    private mutating func publish(
        _ services: [RelayService], schemes: [String], attributes: [String: String], by client: ClientNumber,
        request: Int64, at now: Timestamp
    ) {
        guard var member = clients[client], !member.isTerminal else {
            return answer(client, request: request, RelayOutcome(.notAuthorized, detail: "a terminal offers nothing"))
        }
        if services.contains(where: \.name.isEmpty) {
            return answer(client, request: request, RelayOutcome(.failed, detail: "a service has no name"))
        }
        if let fault = schemes.lazy.compactMap(AddressRule.fault(ofOffered:)).first {
            return answer(client, request: request, RelayOutcome(.failed, detail: fault))
        }
        let before = describedDevice
        let offered = member
        member.services = services
        member.schemes = schemes.map { $0.lowercased() }
        member.attributes = attributes
        member.isPublished = true
        member.publication = clients.nextPublication()
        clients[client] = member
        guard describedDevice.weight.fits(RelayDevice.largest) else {
            clients[client] = offered
            let detail = "all apps here together tell more of themselves than 300 KiB"
            return answer(client, request: request, RelayOutcome(.tooLarge, detail: detail))
        }
        remember(clients.offers(after: client, remembered: settings.offers ?? [:]))
        if describedDevice != before { sayHello() }
        answer(client, request: request, RelayOutcome(.success))
        resume(app: member.app, at: now)
    }

    /// Remembers the offers of apps, so that an app is started when another device calls it.
    private mutating func remember(_ offers: [String: RelaySettings.RememberedOffer]) {
        guard offers != settings.offers ?? [:] else { return }
        settings.offers = offers.isEmpty ? nil : offers
        directives.append(.save(settings))
    }

    private mutating func watch(_ filters: [RelayDeviceFilter], by client: ClientNumber, request: Int64) {
        clients[client]?.watcher.begin(filters)
        answer(client, request: request, RelayOutcome(.success))
        if let obstacle { directives.append(.tell(client, .watchFailed(obstacle.kind, obstacle.why))) }
        tellWatcher(client)
    }

    /// Finds a device for a client: one of this person's that is known here, or another person's by the server.
    private mutating func find(_ device: String, for client: ClientNumber, request: Int64) {
        if let own = devices.others?[device] {
            return directives.append(.tell(client, .found(request: request, own)))
        }
        guard devices.isOpen, devices.listed != nil else {
            return answer(client, request: request, RelayOutcome(.networkUnavailable, detail: obstacle?.why))
        }
        guard others.find(device, for: (client, request)) else {
            let outcome = RelayOutcome(.resourceLimits, detail: "other devices are being looked for")
            return answer(client, request: request, outcome)
        }
        directives.append(.send(.find(device: device)))
    }

    /// Takes what an app or a terminal asks about the documents that the person's devices share.
    private mutating func document(
        _ order: RelayDocumentOrder, of client: ClientNumber, request: Int64, at now: Timestamp
    ) {
        guard settings.account != nil, devices.listed != nil else {
            let why = obstacle?.why ?? "there is no way to the server now"
            return answer(client, request: request, RelayOutcome(.networkUnavailable, detail: why))
        }
        let app = clients[client]?.app
        withDocuments { $0.take(order, request, of: client, app: app, at: now) }
    }

    // MARK: Commands

    private mutating func begin(
        _ order: RelayOrder, id: UUID, device: String, deadline: Timestamp?, waits: Bool, by client: ClientNumber,
        request: Int64, at now: Timestamp
    ) {
        var device = device
        let mark = order.mark(for: device)
        let caller = clients[client]?.app ?? ""
        func refuse(_ status: RelayStatus, _ detail: String? = nil) {
            var command = CommandLedger.Command(
                client: client, request: request, device: device, deadline: now.rawValue)
            command.asker = caller
            command.what = self.content(of: order, from: caller, firstGivenAt: nil).summary
            command.givenAt = now.rawValue
            command.mark = mark
            let outcome = RelayOutcome(status, detail: detail)
            ledger.refused(id, command: command, outcome: outcome, at: now.rawValue)
            answer(client, request: request, outcome, id: id)
        }
        if let refusal = ledger.refusal(of: id, mark) { return answer(client, request: request, refusal, id: id) }
        if let refusal = order.refusal { return refuse(refusal.status, refusal.detail) }
        if case .open = order, connections[id] != nil { return refuse(.failed, "a connection of this id is open") }
        var over: UUID?
        if case .send(let id, _) = order {
            guard let connection = connections[id], connection.client == client else {
                return refuse(.connectionClosed)
            }
            device = connection.device
            over = id
        }
        // A request over a connection that has lost its connectivity waits for the device.
        let mayWait = over.map { connections.isLost($0) } ?? false
        if !mayWait,
            let refusal = order.failureReason(to: device, among: devices, others, waits: waits, obstacle: obstacle?.why)
        {
            return refuse(refusal.status, refusal.detail)
        }
        if let refusal = order.excess(isTerminal: clients[client]?.isTerminal == true, streams: streams) {
            return refuse(refusal.status, refusal.detail)
        }
        let isWakeable = devices[device]?.presence == .wakeable
        var end = order.end(deadline: deadline, waits: waits, isWakeable: isWakeable, at: now)
        var queuedUntil: Timestamp?
        if case .tell = order {
            queuedUntil = SentMessages.end(deadline: deadline, at: now)
            guard let queuedUntil else { return refuse(.failed, "a message is kept for 28 days at most") }
            end = min(queuedUntil, end)
        }
        guard end > now else { return refuse(.expired, "the deadline has passed") }
        let content = content(of: order, from: caller, firstGivenAt: ledger.firstGiven(id, to: device))
        let body: [UInt8]
        do throws(RelayFault) { body = try content.encoded() } catch {
            return refuse(.tooLarge, error.description)
        }
        var command = CommandLedger.Command(client: client, request: request, device: device, deadline: end.rawValue)
        if case .open(let app, let service) = order { command.opens = (app, service) }
        command.asker = caller
        command.what = content.summary
        command.givenAt = now.rawValue
        command.mark = mark
        command.waits = waits
        // The server itself reports the expiry of messages in its queue.
        if waits || isWakeable { command.deadline = (end + Self.responseTimeout).rawValue }
        command.connection = over
        command.isQueuedMessage = queuedUntil != nil
        if queuedUntil != nil { command.what = "tell" + command.what.dropFirst(4) }
        if let refusal = ledger.begin(id, command, size: body.count) {
            return answer(client, request: request, refusal, id: id)
        }
        if case .file(let path, let offer) = order {
            streams.outgoing.add(
                OutgoingFiles.File(client: client, request: request, device: device, path: path, offer: offer), id: id)
        }
        if case .stream(let offer) = order {
            streams.apps.add(id, of: client, with: device, size: offer.size, at: now)
        }
        let departure =
            queuedUntil.map {
                Departure.queuedMessage(QueuedMessage(peer: device, id: id, deadline: $0.rawValue, body: body))
            }
            ?? .route(RelayRoute(peer: device, id: id, deadline: end.rawValue, body: body, waits: waits))
        if ledger.isWaiting(id) { departures[id] = departure } else { send(departure, at: now) }
    }

    private func content(of order: RelayOrder, from caller: String, firstGivenAt: Int64?) -> RelayContent {
        var connection: CallConnections.Connection?
        if case .send(let id, _) = order { connection = connections[id] }
        return order.content(from: caller, over: connection, firstGivenAt: firstGivenAt)
    }

    private mutating func close(
        _ id: UUID, reason: RelayCloseReason, by client: ClientNumber, request: Int64, at now: Timestamp
    ) {
        guard let connection = connections[id], connection.client == client else {
            return answer(client, request: request, RelayOutcome(.connectionClosed))
        }
        let detail = "the connection is closed"
        perform(CallConnections.endOfAsked(connection, detail: detail, ledger: ledger), at: now)
        close(id, reason: reason)
        answer(client, request: request, RelayOutcome(.success))
    }

    private mutating func cancel(_ id: UUID, by client: ClientNumber, request: Int64, at now: Timestamp) {
        if recall(id, by: client, request: request) { return }
        guard let command = ledger[id], command.client == client || clients[client]?.isTerminal == true else {
            let outcome = RelayOutcome(.failed, detail: "no command of this id is under way")
            return answer(client, request: request, outcome)
        }
        takeBack(id)
        end(id, RelayOutcome(.cancelled), at: now)
        answer(client, request: request, RelayOutcome(.success))
    }

    /// Cancels a message that is queued at the server.
    ///
    /// - Returns: Whether this client may cancel it; the server's response follows.
    private mutating func recall(_ id: UUID, by client: ClientNumber, request: Int64) -> Bool {
        guard let queuedMessage = ledger.keptQueuedMessage(id), let member = clients[client],
            member.isTerminal || member.app == queuedMessage.asker
        else { return false }
        guard devices.isOpen else {
            let outcome = RelayOutcome(.networkUnavailable, detail: "there is no way to the server now")
            answer(client, request: request, outcome)
            return true
        }
        guard messages.sent.canRecall else {
            let outcome = RelayOutcome(.resourceLimits, detail: "too many queued messages are being taken back")
            answer(client, request: request, outcome)
            return true
        }
        messages.sent.recall(id, for: (client, request))
        directives.append(.send(.recall(device: queuedMessage.device, id: id)))
        return true
    }

    /// Cancels a command whose outcome is no longer wanted: it leaves the server's queue, or the target is notified.
    private mutating func takeBack(_ id: UUID) {
        guard let command = ledger[id], !ledger.isWaiting(id) else { return }
        guard !command.isQueuedMessage else {
            messages.sent.remove(id)
            return directives.append(.send(.recall(device: command.device, id: id)))
        }
        if devices.isOpen, command.waits || devices[command.device]?.presence == .wakeable {
            directives.append(.send(.withdraw(device: command.device, id: id)))
        }
        send(.cancel(command: id), to: command.device)
    }

    // MARK: Departures

    private mutating func send(_ departure: Departure, at now: Timestamp) {
        switch departure {
        case .queuedMessage(let queuedMessage):
            messages.sent.add(queuedMessage)
            directives.append(.send(.queuedMessage(queuedMessage)))
            ledger.sent(queuedMessage.id)
        case .route(let route):
            if let connection = ledger[route.id]?.connection {
                if let effects = connections.ask(route, over: connection, at: now) {
                    return perform(effects, at: now)
                }
                if connections[connection].map({ $0.lostAt != nil }) ?? true {
                    let detail = "too much waits for the device to come back"
                    return end(route.id, RelayOutcome(.resourceLimits, detail: detail), at: now)
                }
            }
            // It is offered when the device is back.
            if streams.outgoing[route.id]?.isSuspended == true { return }
            streams.apps.commandSent(route.id, at: now)
            directives.append(.send(.route(route)))
            ledger.sent(route.id)
        }
    }

    /// Sends queued commands as far as the limits allow.
    mutating func sendWaiting(at now: Timestamp) {
        for id in connections.takeUnaskable() {
            let detail = "the connection was closed before it was asked"
            end(id, RelayOutcome(.connectionClosed, detail: detail), at: now)
        }
        while let id = ledger.next() {
            guard let departure = departures.removeValue(forKey: id) else { continue }
            send(departure, at: now)
        }
    }
}
