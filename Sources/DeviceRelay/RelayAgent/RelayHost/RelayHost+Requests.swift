import Foundation
import RelayProtocol

/// The requests of apps and terminals.
extension RelayHost {
    /// Takes a request of a client.
    ///
    /// - Parameters:
    ///   - app: The client's bundle id, and `name` its name for people.
    ///   - isTerminal: Whether it is a person's terminal, which may manage the account and offers nothing.
    package mutating func take(
        _ request: RelayRequest, from client: ClientNumber, app: String, name: String, isTerminal: Bool, at now: Int64
    ) -> [Directive] {
        if members[client] == nil { members[client] = Member(app: app, name: name, isTerminal: isTerminal) }
        switch request {
        case .publish(let number, let services, let schemes, let attributes):
            publish(number, services: services, schemes: schemes, attributes: attributes, client: client, at: now)
        case .watch(let number, let filters): watch(number, filters: filters, client: client)
        case .unwatch(let number):
            members[client]?.watches = false
            answer(client, number, RelayOutcome(.success))
        case .command(let number, let id, let device, let deadline, let waits, let order):
            begin(
                order, id: id ?? UUID.random(), device: device, deadline: deadline, waits: waits, number: number,
                client: client, at: now)
        case .stream(let stream, let step): take(step, id: stream, by: client, at: now)
        case .find(let number, let device): find(device, number, client)
        case .answer(let call, let outcome): finish(call, outcome: outcome, by: client, at: now)
        case .close(let number, let connection, let reason):
            close(number, id: connection, reason: reason, client: client, at: now)
        case .cancel(let number, let id): cancel(number, id: id, client: client, at: now)
        case .life(let number, let id):
            let known = ledger.life(of: id, at: now)
            directives.append(.tell(client, .life(request: number, known?.life, known?.status, known?.detail)))
        case .document(let number, let order): document(order, number: number, client: client, at: now)
        case .manage(let number, let management): manage(number, management: management, client: client, at: now)
        case .unknown: break
        }
        return take(now)
    }

    /// A client's connection to the agent is over.
    package mutating func ended(_ client: ClientNumber, at now: Int64) -> [Directive] {
        guard let member = members.removeValue(forKey: client) else { return [] }
        for id in ledger.underWay(of: client) {
            takeBack(id)
            departures[id] = nil
            outgoingEnded(id)
            appStreamEnded(id)
            if let command = ledger.end(id, .cancelled, at: now) { note(id, command: command, status: .cancelled) }
        }
        directory.finds = directory.finds.mapValues { $0.filter { $0.client != client } }.filter { !$0.value.isEmpty }
        mail.recalls = mail.recalls.mapValues { $0.filter { $0.client != client } }.filter { !$0.value.isEmpty }
        if pairing?.client == client { endPairing() }
        withDocuments { $0.ended(client) }
        for (id, line) in calls.lines where line.client == client {
            closeThere(id, line: line, reason: .cancelled)
        }
        for (id, stream) in streams.appStreams where stream.client == client { appStreamEnded(id) }
        for (number, task) in work.tasks where task.client == client {
            if giveAgain(number, task: task, at: now) { continue }
            settle(number, outcome: RelayOutcome(.outcomeUnknown, detail: "the app ended before it answered"), at: now)
        }
        if member.isPublished { sayHello() }
        return take(now)
    }

    mutating func answer(_ client: ClientNumber, _ request: Int64, _ outcome: RelayOutcome, id: UUID? = nil) {
        directives.append(.tell(client, .answered(request: request, id: id, outcome)))
    }

    private mutating func publish(
        _ number: Int64, services: [RelayService], schemes: [String], attributes: [String: String],
        client: ClientNumber, at now: Int64
    ) {
        guard members[client]?.isTerminal == false else {
            return answer(client, number, RelayOutcome(.notAuthorized, detail: "a terminal offers nothing"))
        }
        if services.contains(where: \.name.isEmpty) {
            return answer(client, number, RelayOutcome(.failed, detail: "a service has no name"))
        }
        if let fault = schemes.lazy.compactMap(AddressRule.fault(ofOffered:)).first {
            return answer(client, number, RelayOutcome(.failed, detail: fault))
        }
        let before = describedDevice
        let offered = members[client]
        members[client]?.services = services
        members[client]?.schemes = schemes.map { $0.lowercased() }
        members[client]?.attributes = attributes
        members[client]?.isPublished = true
        guard describedDevice.weight.fits(RelayDevice.largest) else {
            members[client] = offered
            return answer(
                client, number,
                RelayOutcome(.tooLarge, detail: "all apps here together tell more of themselves than 300 KiB"))
        }
        remember(members[client])
        if describedDevice != before { sayHello() }
        answer(client, number, RelayOutcome(.success))
        resume(app: members[client]?.app ?? "", now)
    }

    private mutating func watch(_ number: Int64, filters: [RelayDeviceFilter], client: ClientNumber) {
        members[client]?.watches = true
        members[client]?.filters = filters
        members[client]?.seen = [:]
        members[client]?.isEnumerated = false
        answer(client, number, RelayOutcome(.success))
        if let obstacle { directives.append(.tell(client, .watchFailed(obstacle.kind, obstacle.why))) }
        tellWatcher(client)
    }

    // MARK: Commands

    private mutating func begin(
        _ order: RelayOrder, id: UUID, device: String, deadline: Int64?, waits: Bool, number: Int64,
        client: ClientNumber, at now: Int64
    ) {
        var device = device
        let mark = Self.mark(of: order, device)
        func refuse(_ status: RelayStatus, _ detail: String? = nil) {
            var command = CommandLedger.Command(client: client, request: number, device: device, deadline: now)
            command.asker = members[client]?.app ?? ""
            command.what = self.content(of: order, client, firstGivenAt: nil).summary
            command.givenAt = now
            command.mark = mark
            let outcome = RelayOutcome(status, detail: detail)
            ledger.refused(id, command: command, outcome: outcome, at: now)
            answer(client, number, outcome, id: id)
        }
        if let refusal = ledger.refusal(of: id, mark) { return answer(client, number, refusal, id: id) }
        if case .open = order, calls.lines[id] != nil { return refuse(.failed, "a connection of this id is open") }
        var connection: UUID?
        if case .send(let id, _) = order {
            guard let line = calls.lines[id], line.client == client else { return refuse(.connectionClosed) }
            device = line.device
            connection = id
        }
        // A request over a connection that has lost its connectivity waits for the device.
        let mayWait = connection.map { calls.lines[$0]?.lostAt != nil } ?? false
        if !mayWait, let refusal = hindrance(of: order, device, waits) { return refuse(refusal.status, refusal.detail) }
        if let refusal = excess(of: order, client) { return refuse(refusal.status, refusal.detail) }
        var end = end(of: order, device: device, deadline: deadline, waits: waits, at: now)
        var queuedMessageEnd: Int64?
        if case .tell = order {
            queuedMessageEnd = self.queuedMessageEnd(deadline, now)
            guard let queuedMessageEnd else { return refuse(.failed, "a message is kept for 28 days at most") }
            end = min(queuedMessageEnd, end)
        }
        guard end > now else { return refuse(.expired, "the deadline has passed") }
        let content = content(of: order, client, firstGivenAt: ledger.firstGiven(id, to: device))
        let body: [UInt8]
        do throws(RelayFault) { body = try content.encoded() } catch {
            return refuse(.tooLarge, error.description)
        }
        if let fault = fault(of: order) { return refuse(.tooLarge, fault) }
        var command = CommandLedger.Command(client: client, request: number, device: device, deadline: end)
        if case .open(let app, let service) = order { command.opens = (app, service) }
        command.asker = members[client]?.app ?? ""
        command.what = content.summary
        command.givenAt = now
        command.mark = mark
        command.waits = waits
        // The server itself reports the expiry of messages in its queue.
        if waits || known(device)?.presence == .wakeable { command.deadline += Self.wordTimeout }
        command.connection = connection
        command.isQueuedMessage = queuedMessageEnd != nil
        if queuedMessageEnd != nil { command.what = "tell" + command.what.dropFirst(4) }
        if let refusal = ledger.begin(id, command, size: body.count) {
            return answer(client, number, refusal, id: id)
        }
        if case .file(let path, let offer) = order {
            streams.outgoing[id] = Outgoing(client: client, request: number, device: device, path: path, offer: offer)
        }
        if case .stream(let offer) = order { give(offer, id: id, to: device, by: client, at: now) }
        let departure =
            queuedMessageEnd.map {
                Departure.queuedMessage(QueuedMessage(peer: device, id: id, deadline: $0, body: body))
            }
            ?? .route(RelayRoute(peer: device, id: id, deadline: end, body: body, waits: waits))
        if ledger.isWaiting(id) { departures[id] = departure } else { send(departure, now) }
    }

    /// The hash that tells two commands of the same id apart. A ping's message is left out: it holds the time.
    private static func mark(of order: RelayOrder, _ device: String) -> Int {
        var hasher = Hasher()
        hasher.combine(device)
        if case .call(ownApp, pingService, _) = order { hasher.combine(pingService) } else { hasher.combine(order) }
        return hasher.finalize()
    }

    /// The time at which a command is given up. Repetitions in transit must not outlive the memory of ids at the
    /// target.
    private func end(of order: RelayOrder, device: String, deadline: Int64?, waits: Bool, at now: Int64) -> Int64 {
        switch order {
        case .file, .stream: return min(deadline ?? now + Self.fileTimeout, now + Self.fileTimeout)
        case .tell: return now + Self.timeout
        case .launch, .call, .open, .send:
            let end = min(deadline ?? now + Self.timeout, now + Self.longestTimeout)
            let mayWake = known(device)?.presence == .wakeable && order.wakes
            return waits || mayWake ? min(end, now + Self.waitingTimeout) : end
        }
    }

    /// The reason why a client may not send a file or a stream; `nil` where it may.
    private func excess(of order: RelayOrder, _ client: ClientNumber) -> RelayOutcome? {
        switch order {
        case .launch, .call, .tell, .open, .send: return nil
        case .file(_, let offer):
            guard members[client]?.isTerminal == true else {
                return RelayOutcome(.notAuthorized, detail: "only a person at a terminal sends files")
            }
            guard streams.outgoing.count < Self.streamLimit, offer.size >= 0 else {
                return RelayOutcome(.resourceLimits, detail: "\(Self.streamLimit) files are under way")
            }
        case .stream(let offer):
            guard streams.appStreams.count < Self.streamLimit else {
                return RelayOutcome(.resourceLimits, detail: "\(Self.streamLimit) streams are under way")
            }
            guard offer.app != nil, offer.service != nil else {
                return RelayOutcome(.serviceUnavailable, detail: "a stream is for a service of an app")
            }
        }
        return nil
    }

    /// The reason why an order cannot be sent to a device; `nil` where it can.
    private func hindrance(of order: RelayOrder, _ device: String, _ waits: Bool) -> RelayOutcome? {
        guard knowsDevices else { return RelayOutcome(.networkUnavailable, detail: obstacle?.why) }
        guard let target = known(device) ?? directory.hosts[device], device != directory.ownID else {
            return RelayOutcome(.unknownDevice, detail: "none of your devices has the id \(device)")
        }
        if known(device) == nil, !order.isForOthers {
            return RelayOutcome(
                .denied, detail: "\(target.name) is another person's device: only its services can be asked")
        }
        if case .tell = order {
            return directory.isOpen
                ? nil : RelayOutcome(.networkUnavailable, detail: "there is no way to the server now")
        }
        guard target.presence == .online || target.presence == .wakeable && order.wakes || waits else {
            return RelayOutcome(.notDelivered, detail: "\(target.name) is not connected")
        }
        return nil
    }

    private func content(of order: RelayOrder, _ client: ClientNumber, firstGivenAt: Int64?) -> RelayContent {
        let caller = members[client]?.app ?? ""
        switch order {
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
        case .send(let connection, let message):
            let line = calls.lines[connection]
            var call = RelayCall(
                app: line?.app ?? "", service: line?.service ?? "", caller: caller, connection: connection,
                message: message)
            call.firstGivenAt = firstGivenAt
            return .call(call)
        }
    }

    /// The fault in an order's message; `nil` for none.
    private func fault(of order: RelayOrder) -> String? {
        switch order {
        case .call(_, _, let message), .tell(_, _, let message), .send(_, let message):
            do throws(RelayFault) {
                _ = try RelayEncoder.encode(message, limits: .largestMessage)
                return nil
            } catch { return error.description }
        case .launch, .open, .file, .stream: return nil
        }
    }

    private mutating func close(
        _ number: Int64, id: UUID, reason: RelayCloseReason, client: ClientNumber, at now: Int64
    ) {
        guard let line = calls.lines[id], line.client == client else {
            return answer(client, number, RelayOutcome(.connectionClosed))
        }
        if line.lostAt != nil { endAsked(line, detail: "the connection is closed", at: now) }
        closeThere(id, line: line, reason: reason)
        answer(client, number, RelayOutcome(.success))
    }

    private mutating func cancel(_ number: Int64, id: UUID, client: ClientNumber, at now: Int64) {
        if recall(id, number: number, client: client) { return }
        guard let command = ledger[id], command.client == client || members[client]?.isTerminal == true else {
            return answer(client, number, RelayOutcome(.failed, detail: "no command of this id is under way"))
        }
        takeBack(id)
        end(id, RelayOutcome(.cancelled), now)
        answer(client, number, RelayOutcome(.success))
    }

    /// Cancels a command whose outcome is no longer wanted: it leaves the server's queue, or the target is notified.
    private mutating func takeBack(_ id: UUID) {
        guard let command = ledger[id], !ledger.isWaiting(id) else { return }
        guard !command.isQueuedMessage else {
            mail.sentQueuedMessages[id] = nil
            return directives.append(.send(.recall(device: command.device, id: id)))
        }
        if directory.isOpen, command.waits || known(command.device)?.presence == .wakeable {
            directives.append(.send(.withdraw(device: command.device, id: id)))
        }
        send(.cancel(command: id), to: command.device, deadline: nil)
    }
}
