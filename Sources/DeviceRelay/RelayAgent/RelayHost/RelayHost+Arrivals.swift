import CoreValues
import Foundation
import RelayProtocol

/// The content that other devices send to this one, and the commands of theirs that are carried out here.
extension RelayHost {
    /// Handles a content of another device.
    mutating func arrived(_ route: RelayRoute, at now: Timestamp) {
        let content: RelayContent
        do { content = try RelayContent(route.body) } catch {
            // A device that cannot write a content may still read this response.
            let outcome = RelayOutcome(.failed, detail: "what came cannot be read: \(error)")
            return send(.outcome(command: route.id, outcome), to: route.peer)
        }
        if !content.isOfStream { streams.lastOtherMessageAt = now }
        switch content {
        case .executing(let id): ledger.executing(id, on: route.peer)
        case .outcome(let id, var outcome):
            if outcome.status == .connectionClosed, ledger.isRepeated(id) {
                outcome = RelayOutcome(.outcomeUnknown, detail: "the connection was closed before it was asked again")
            }
            if ledger[id] == nil, queuedMessageEnded(id, outcome, from: route.peer) { break }
            // A file that the other device had asked for is of no command here.
            if ledger[id] == nil, streams.outgoing[id]?.device == route.peer {
                directives += streams.outgoing.discard(id)
            }
            end(id, outcome, from: route.peer, at: now)
        case .close(let id, let reason):
            if connections[id]?.device == route.peer {
                lose(id, reason: reason, detail: "the connection is closed", at: now)
            }
        case .cancel(let id): cancelled(id, by: route.peer, at: now)
        case .launch, .call, .open: carryOut(content, route: route, at: now)
        case .offer(let offer) where offer.app != nil: carryOut(content, route: route, at: now)
        case .offer(let offer): take(offer, route: route, at: now)
        case .pull(let stream, let offset, let length, let prefix):
            receive(.pull(offset: offset, length: length, prefix: prefix), of: stream, from: route.peer, at: now)
        case .piece(let stream, let offset, let bytes):
            receive(.piece(offset: offset, bytes), of: stream, from: route.peer, at: now)
        case .piecesEnded(let stream, let digest):
            receive(.allGiven(digest: digest), of: stream, from: route.peer, at: now)
        case .rekey(let text, let proof): rekeyed(text, proof: proof, by: route.peer)
        case .list(let list, let signature): receive(list, signature: signature, from: route.peer, at: now)
        case .introduction(let device): introduced(device, as: route.peer, at: now)
        case .resume(let ids): perform(connections.resumed(ids, by: route.peer, at: now), at: now)
        case .pathBegins, .pathEnded: directives.append(.path(device: route.peer, content))
        case .unknown(let type):
            let outcome = RelayOutcome(.failed, detail: "the device does not know the command \(type)")
            reply(route.id, to: route.peer, outcome)
        }
    }

    /// Handles a step of a file or an app's stream.
    private mutating func receive(_ step: RelayStreamStep, of id: UUID, from device: String, at now: Timestamp) {
        let isTalking = streams.isTalking(at: now)
        if let effects = streams.apps.receive(step, of: id, from: device, isTalking: isTalking, at: now) {
            return perform(effects, at: now)
        }
        let effects: [RelayEffect] =
            switch step {
            case .pull(let offset, let length, let prefix):
                streams.outgoing.read(id, offset: offset, length: length, prefix: prefix, for: device)
            case .piece(let offset, let bytes):
                streams.incoming.receive(bytes, of: id, offset: offset, from: device, at: now)
            case .allGiven(let digest):
                streams.incoming.piecesEnded(id, digest: digest, from: device, isTalking: isTalking, at: now)
            default: []
            }
        perform(effects, at: now)
    }

    /// The caller does not want a command's outcome any more.
    private mutating func cancelled(_ id: UUID, by device: String, at now: Timestamp) {
        for (number, task) in work.tasks where task.id == id && task.device == device {
            if task.isAsked { directives.append(.withdraw(ticket: number)) }
            abandon(task, number)
        }
        if streams.incoming.files[id]?.device == device {
            keep(RelayOutcome(.cancelled), of: id, from: device)
            discardIncoming(id)
        }
        // This device has just served the connection, and the app there does not know of it.
        if connections[id]?.device == device, connections[id]?.isServed == true {
            lose(id, reason: .cancelled, detail: "the connection was taken back", at: now)
        }
    }

    // MARK: Commands

    /// Carries a command out, once.
    mutating func carryOut(_ content: RelayContent, route: RelayRoute, at now: Timestamp) {
        if let deadline = route.deadline, deadline <= now.rawValue {
            return reply(route.id, to: route.peer, RelayOutcome(.expired, detail: "it came after its deadline"))
        }
        switch work.answered.arrive(route.id, from: route.peer, firstGivenAt: content.firstGivenAt, at: now.rawValue) {
        case .new: break
        case .forgotten:
            let detail =
                "it was given before the agent there began, or too long ago; nobody knows whether it was done"
            return reply(route.id, to: route.peer, RelayOutcome(.outcomeUnknown, detail: detail))
        case .underWay:
            return send(
                .executing(command: route.id), to: route.peer, deadline: route.deadline.map { Timestamp(rawValue: $0) })
        case .answered(let body?): return sendAgain(body, to: route.peer)
        case .answered(nil):
            let detail = "it was carried out before; its answer is not kept any more"
            return reply(route.id, to: route.peer, RelayOutcome(.outcomeUnknown, detail: detail))
        }
        guard work.hasCapacity else {
            let outcome = RelayOutcome(.resourceLimits, detail: "too much is under way here")
            return reply(route.id, to: route.peer, outcome)
        }
        work.described[route.id] = content.summary
        take(content, route: route, at: now)
    }

    /// Begins a command, unless it must be deferred or refused.
    mutating func take(_ content: RelayContent, route: RelayRoute, at now: Timestamp) {
        switch content {
        case .launch(let launch): take(launch, route: route, at: now)
        case .call(let call): take(call, route: route, at: now)
        case .open(let app, let service, let caller):
            open(content, app: app, service: service, caller: caller, route: route, at: now)
        case .offer(let offer): takeStream(offer, route: route, at: now)
        default: break
        }
    }

    /// Ends a task that is no longer wanted, and notifies the client or service that carries it out.
    mutating func abandon(_ task: IncomingCommand, _ number: Int64) {
        directives += work.discard(number)
        keep(RelayOutcome(.cancelled), of: task.id, from: task.device)
        directives += streams.apps.discard(task.id, isLost: true)
    }

    private mutating func sendAgain(_ body: [UInt8], to device: String) {
        directives.append(.send(.route(RelayRoute(peer: device, id: UUID.random(), deadline: nil, body: body))))
    }

    /// Responds to a command that needs no task, or whose response need not be repeated.
    mutating func reply(_ id: UUID, to device: String, _ outcome: RelayOutcome) {
        guard let body = keep(outcome, of: id, from: device), devices.canReach(device) else { return }
        sendAgain(body, to: device)
    }

    /// Keeps a response in case the other device repeats its command, and notes the outcome in the log.
    ///
    /// - Returns: The encoded response; `nil` for a queued message or where encoding fails.
    @discardableResult
    mutating func keep(_ outcome: RelayOutcome, of id: UUID, from device: String) -> [UInt8]? {
        if let what = work.described.removeValue(forKey: id) {
            log(RelayLogEntry(device: device, what: what, status: outcome.status, id: id))
        }
        if let message = messages.received.settle(QueuedMessageKey(sender: device, id: id), outcome) {
            directives.append(.keep(message))
            return nil
        }
        guard let body = try? RelayContent.outcome(command: id, outcome).encoded() else { return nil }
        work.answered.answered(id, from: device, body)
        return body
    }

    /// A task has ended: its caller is answered.
    mutating func settle(_ number: Int64, _ outcome: RelayOutcome, at now: Timestamp) {
        guard let task = work.tasks.removeValue(forKey: number) else { return }
        if let connection = task.connection { connections.use(connection, at: now) }
        reply(task.id, to: task.device, outcome)
    }

    /// A client answers a task of its own.
    mutating func finish(_ call: Int64, _ outcome: RelayOutcome, by client: ClientNumber, at now: Timestamp) {
        guard let task = work.tasks[call], task.client == client else { return }
        var outcome = outcome
        if let message = outcome.message {
            do throws(RelayFault) { _ = try RelayEncoder.encode(message, limits: .largestMessage) } catch {
                outcome = RelayOutcome(.tooLarge, detail: "the answer: \(error)")
            }
        }
        if outcome.status != .success, task.fallback != nil { return openFallback(call, outcome, at: now) }
        settle(call, outcome, at: now)
    }

    // MARK: App services

    private mutating func take(_ call: RelayCall, route: RelayRoute, at now: Timestamp) {
        let client: ClientNumber
        if let id = call.connection {
            guard let connection = connections[id], connection.device == route.peer else {
                return reply(route.id, to: route.peer, RelayOutcome(.connectionClosed))
            }
            // Any other obstacle closes the connection when it occurs.
            if !isScreenUnlocked, settings.unlockedGrants != nil, connection.isServed,
                let refusal = rights.refusal(of: connection.service, app: connection.app, to: connection.device),
                refusal.status == .denied
            {
                return reply(route.id, to: route.peer, refusal)
            }
            client = connection.client
        } else {
            if let refusal = rights.refusal(of: call.service, app: call.app, to: route.peer) {
                return postpone(.call(call), app: call.app, service: call.service, route: route, refusal, at: now)
            }
            if call.app == Self.ownApp, call.service == Self.pingService {
                // The answer to a ping: the same, of the type `pong`.
                let pong = call.message.merging(["Type": "pong"]) { $1 }
                return reply(route.id, to: route.peer, RelayOutcome(.success, message: pong))
            }
            if call.app == Self.ownApp { return serve(call, route: route, at: now) }
            guard let offered = clients.provider(of: call.service, app: call.app) else { return }
            client = offered.client
        }
        let number = work.add(route, for: client, at: now)
        if let connection = call.connection {
            work.tasks[number]?.connection = connection
            connections.use(connection, at: now)
        }
        let notice = RelayNotice.asked(
            call: number, id: route.id, device: route.peer, deadline: route.deadline, call)
        if call.isOneWay, let attempt = messages.received.given(QueuedMessageKey(sender: route.peer, id: route.id)) {
            directives.append(.keepAttempt(attempt))
        }
        directives.append(.tell(client, notice))
    }

    private mutating func open(
        _ content: RelayContent, app: String, service: String, caller: String, route: RelayRoute, at now: Timestamp
    ) {
        if let refusal = rights.refusal(of: service, app: app, to: route.peer) {
            return postpone(content, app: app, service: service, route: route, refusal, at: now)
        }
        guard connections[route.id] == nil else {
            let outcome = RelayOutcome(.failed, detail: "a connection of this id is open")
            return reply(route.id, to: route.peer, outcome)
        }
        guard connections.open.count < IncomingCommands.limit else {
            let outcome = RelayOutcome(.resourceLimits, detail: "too many connections are open here")
            return reply(route.id, to: route.peer, outcome)
        }
        if let client = clients.provider(of: service, app: app)?.client {
            let connection = CallConnections.Connection(
                client: client, device: route.peer, app: app, service: service, isServed: true)
            open(connection, id: route.id, at: now)
            let notice = RelayNotice.opened(
                connection: route.id, device: route.peer, app: app, service: service, caller: caller)
            directives.append(.tell(client, notice))
        }
        reply(route.id, to: route.peer, RelayOutcome(.success))
    }

    // MARK: Files and streams

    /// A device offers a stream to an app here.
    private mutating func takeStream(_ offer: RelayOffer, route: RelayRoute, at now: Timestamp) {
        let (app, service) = (offer.app ?? "", offer.service ?? "")
        if let refusal = rights.refusal(of: service, app: app, to: route.peer) {
            return postpone(.offer(offer), app: app, service: service, route: route, refusal, at: now)
        }
        guard streams.apps.hasCapacity, streams.apps[route.id] == nil,
            let client = clients.provider(of: service, app: app)?.client
        else {
            let outcome = RelayOutcome(.resourceLimits, detail: "other streams are coming")
            return reply(route.id, to: route.peer, outcome)
        }
        let number = work.add(route, for: client, at: now)
        streams.apps.add(route.id, of: client, with: route.peer, size: offer.size, task: number, at: now)
        directives.append(.tell(client, .offered(stream: route.id, device: route.peer, offer)))
    }

    /// A device offers a file; the same again where it had been interrupted.
    private mutating func take(_ offer: RelayOffer, route: RelayRoute, at now: Timestamp) {
        if streams.incoming.files[route.id]?.device == route.peer {
            let isTalking = streams.isTalking(at: now)
            return perform(streams.incoming.requestAgain(route.id, isTalking: isTalking, at: now), at: now)
        }
        switch work.answered.arrive(route.id, from: route.peer, at: now.rawValue) {
        case .new, .underWay: break
        case .answered(let body?): return sendAgain(body, to: route.peer)
        case .answered(nil), .forgotten:
            return reply(route.id, to: route.peer, RelayOutcome(.outcomeUnknown, detail: "it came before"))
        }
        work.described[route.id] = "file \(offer.name)"
        if rights.isDenied(route.peer, app: Self.ownApp, service: Self.filesService) {
            let outcome = RelayOutcome(.notAuthorized, detail: "the owner takes no files from you")
            return reply(route.id, to: route.peer, outcome)
        }
        guard streams.incoming.hasCapacity, streams.incoming.files[route.id] == nil else {
            let outcome = RelayOutcome(.resourceLimits, detail: "other files are coming; try again later")
            return reply(route.id, to: route.peer, outcome)
        }
        // A folder that the person named is not made anew where it is missing: its disk may only be away.
        let named = settings.filesFolder
        let effects = streams.incoming.begin(
            offer, id: route.id, from: route.peer, folder: named ?? machine.filesFolder, isMade: named == nil, at: now)
        perform(effects, at: now)
    }

    /// Discards a file that comes; what came of it stays on the disk.
    mutating func discardIncoming(_ id: UUID) {
        guard streams.incoming.files[id] != nil else { return }
        work.described[id] = nil
        directives += streams.incoming.discard(id)
    }

    /// The outcome of ``Directive/file(stream:_:)``.
    package mutating func filed(_ id: UUID, _ event: RelayFileEvent, at now: Timestamp) -> [Directive] {
        let isTalking = streams.isTalking(at: now)
        switch event {
        case .prepared(let length, let digest):
            let effects = streams.incoming.prepared(
                id, length: length, digest: digest, isTalking: isTalking, at: now)
            perform(effects, at: now)
        case .written(let offset):
            perform(streams.incoming.didWrite(id, upTo: offset, isTalking: isTalking, at: now), at: now)
        case .finished(let path):
            guard let device = streams.incoming.remove(id) else { break }
            reply(id, to: device, RelayOutcome(.success, detail: path.split(separator: "/").last.map(String.init)))
            for client in clients.watchers { directives.append(.tell(client, .received(device: device, path: path))) }
            perform(streams.incoming.requestAll(isTalking: isTalking, at: now), at: now)
        case .piece(let offset, let bytes): perform(streams.outgoing.send(bytes, of: id, offset: offset), at: now)
        case .ended(let digest): perform(streams.outgoing.sendEnd(of: id, digest: digest), at: now)
        case .failed(let why):
            let outcome = RelayOutcome(.failed, detail: why)
            if let device = streams.incoming.remove(id) { reply(id, to: device, outcome) }
            guard let file = streams.outgoing[id] else { break }
            send(.cancel(command: id), to: file.device)
            if ledger[id] != nil { end(id, outcome, at: now) } else { directives += streams.outgoing.discard(id) }
        }
        return takeDirectives(at: now)
    }

    /// Offers files again whose transfer was interrupted by a loss of connectivity.
    mutating func offerAgain(to device: String? = nil) {
        for (id, file) in streams.outgoing.suspendedFiles(for: device)
        where !ledger.isWaiting(id) && devices.isOnline(file.device) {
            streams.outgoing.resume(id)
            offer(file, id: id)
        }
    }

    private mutating func offer(_ file: OutgoingFiles.File, id: UUID) {
        guard let body = try? RelayContent.offer(file.offer).encoded() else { return }
        let route = RelayRoute(peer: file.device, id: id, deadline: ledger[id]?.deadline, body: body)
        directives.append(.send(.route(route)))
        ledger.sent(id)
    }

    /// Sends a file that another device has asked for.
    ///
    /// - Returns: Whether it is sent; otherwise too many files are.
    mutating func give(_ path: String, _ offer: RelayOffer, to device: String) -> Bool {
        guard streams.outgoing.hasCapacity else { return false }
        let id = UUID.random()
        let file = OutgoingFiles.File(client: nil, request: 0, device: device, path: path, offer: offer)
        streams.outgoing.add(file, id: id)
        self.offer(file, id: id)
        return true
    }
}
