import Foundation
import RelayProtocol

/// The content that other devices send to this one.
extension RelayHost {
    mutating func arrived(_ route: RelayRoute, _ now: Int64) {
        let content: RelayContent
        do { content = try RelayContent(route.body) } catch {
            // A device that cannot write a content may still read this response.
            return send(
                .outcome(command: route.id, RelayOutcome(.failed, detail: "what came cannot be read: \(error)")),
                to: route.peer, deadline: nil)
        }
        if !content.isOfStream { streams.talkedAt = now }
        switch content {
        case .executing(let id): ledger.executing(id, on: route.peer)
        case .outcome(let id, var outcome):
            if outcome.status == .connectionClosed, isAskedAgain(id) {
                outcome = RelayOutcome(.outcomeUnknown, detail: "the connection was closed before it was asked again")
            }
            if ledger[id] == nil, queuedMessageEnded(id, outcome, from: route.peer) { break }
            // A file that the other device had asked for is of no command here.
            if ledger[id] == nil, streams.outgoing[id]?.device == route.peer { outgoingEnded(id) }
            end(id, outcome, from: route.peer, now)
        case .close(let id, let reason):
            if calls.lines[id]?.device == route.peer {
                loseLine(id, reason: reason, detail: "the connection is closed", at: now)
            }
        case .cancel(let id): commandCancelled(id, by: route.peer, now)
        case .launch, .call, .open: carryOut(content, route: route, at: now)
        case .offer(let offer) where offer.app != nil: carryOut(content, route: route, at: now)
        case .offer(let offer): take(offer, route, now)
        case .pull(let stream, let offset, let length, let prefix):
            let step = RelayStreamStep.pull(offset: offset, length: length, prefix: prefix)
            guard !receive(step, of: stream, from: route.peer, now) else { break }
            pulled(stream, offset: offset, length: length, prefix: prefix, device: route.peer)
        case .piece(let stream, let offset, let bytes):
            guard !receive(.piece(offset: offset, bytes), of: stream, from: route.peer, now) else { break }
            receiveChunk(stream, offset: offset, bytes: bytes, device: route.peer, at: now)
        case .piecesEnded(let stream, let digest):
            guard !receive(.allGiven(digest: digest), of: stream, from: route.peer, now) else { break }
            piecesEnded(stream, digest: digest, device: route.peer, at: now)
        case .rekey(let text, let proof): rekeyed(text, proof, by: route.peer)
        case .list(let list, let signature): receive(list, signature: signature, from: route.peer, at: now)
        case .introduction(let device): peerJoined(device, as: route.peer, now)
        case .resume(let connections): resumed(connections, by: route.peer, now)
        case .pathBegins, .pathEnded: directives.append(.path(device: route.peer, content))
        case .unknown(let type):
            reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(.failed, detail: "the device does not know the command \(type)"))
        }
    }

    /// The caller does not want a command's outcome any more.
    private mutating func commandCancelled(_ id: UUID, by device: String, _ now: Int64) {
        for (number, task) in work.tasks where task.id == id && task.device == device {
            if task.isAsked { directives.append(.withdraw(ticket: number)) }
            forget(number, task)
            keep(RelayOutcome(.cancelled), of: id, from: device)
            appStreamEnded(id, isLost: true)
        }
        if streams.incoming[id]?.device == device {
            keep(RelayOutcome(.cancelled), of: id, from: device)
            incomingEnded(id)
        }
        // This device has just served the connection, and the app there does not know of it.
        if calls.lines[id]?.device == device, calls.lines[id]?.isServed == true {
            loseLine(id, reason: .cancelled, detail: "the connection was taken back", at: now)
        }
    }

    /// Carries a command out, once.
    mutating func carryOut(_ content: RelayContent, route: RelayRoute, at now: Int64) {
        if let deadline = route.deadline, deadline <= now {
            return reply(
                route.id, device: route.peer, outcome: RelayOutcome(.expired, detail: "it came after its deadline"))
        }
        switch work.answered.arrive(route.id, from: route.peer, firstGivenAt: content.firstGivenAt, at: now) {
        case .new: break
        case .forgotten:
            let detail =
                "it was given before the agent there began, or too long ago; nobody knows whether it was done"
            return reply(route.id, device: route.peer, outcome: RelayOutcome(.outcomeUnknown, detail: detail))
        case .underWay: return send(.executing(command: route.id), to: route.peer, deadline: route.deadline)
        case .answered(let body?):
            return directives.append(
                .send(.route(RelayRoute(peer: route.peer, id: UUID.random(), deadline: nil, body: body))))
        case .answered(nil):
            let detail = "it was carried out before; its answer is not kept any more"
            return reply(route.id, device: route.peer, outcome: RelayOutcome(.outcomeUnknown, detail: detail))
        }
        guard work.tasks.count < Self.taskLimit else {
            return reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(.resourceLimits, detail: "too much is under way here"))
        }
        work.described[route.id] = content.summary
        switch content {
        case .launch(let launch): take(launch, route, now)
        case .call(let call): take(call, route, now)
        case .open(let app, let service, let caller):
            open(app, service: service, caller: caller, route: route, content: content, at: now)
        case .offer(let offer): take(offer, app: offer.app ?? "", service: offer.service ?? "", route: route, at: now)
        default: break
        }
    }

    /// Removes a task that is no longer wanted, and notifies the client or service that carries it out.
    mutating func forget(_ number: Int64, _ task: Task) {
        work.tasks[number] = nil
        if let client = task.client { directives.append(.tell(client, .cancelled(call: number))) }
        if task.ownService != nil { directives.append(.endService(ticket: number)) }
    }

    /// Responds to a command that needs no task, or whose response need not be repeated.
    mutating func reply(_ id: UUID, device: String, outcome: RelayOutcome) {
        guard let body = keep(outcome, of: id, from: device), hasWay(to: device) else { return }
        directives.append(.send(.route(RelayRoute(peer: device, id: UUID.random(), deadline: nil, body: body))))
    }

    /// Keeps a response in case the other device repeats its command, and notes the outcome in the log.
    ///
    /// - Returns: The encoded response; `nil` for a queued message or where encoding fails.
    @discardableResult
    mutating func keep(_ outcome: RelayOutcome, of id: UUID, from device: String) -> [UInt8]? {
        if let what = work.described.removeValue(forKey: id) {
            log(RelayLogEntry(device: device, what: what, status: outcome.status, id: id))
        }
        if queuedMessageSettled(QueuedMessageKey(sender: device, id: id), outcome) { return nil }
        guard let body = try? RelayContent.outcome(command: id, outcome).encoded() else { return nil }
        work.answered.answered(id, from: device, body)
        return body
    }

    mutating func add(_ route: RelayRoute, _ client: ClientNumber?, fallback: String? = nil, _ now: Int64) -> Int64 {
        work.lastTask += 1
        work.tasks[work.lastTask] = Task(
            id: route.id, device: route.peer, deadline: route.deadline, client: client, fallback: fallback,
            tellsAt: now + Self.silence)
        return work.lastTask
    }

    /// A task has ended: its caller is answered.
    mutating func settle(_ number: Int64, outcome: RelayOutcome, at now: Int64) {
        guard let task = work.tasks.removeValue(forKey: number) else { return }
        if let connection = task.connection { calls.lines[connection]?.usedAt = now }
        reply(task.id, device: task.device, outcome: outcome)
    }

    /// A client answers a task of its own.
    mutating func finish(_ call: Int64, outcome: RelayOutcome, by client: ClientNumber, at now: Int64) {
        guard let task = work.tasks[call], task.client == client else { return }
        var outcome = outcome
        if let message = outcome.message {
            do throws(RelayFault) { _ = try RelayEncoder.encode(message, limits: .largestMessage) } catch {
                outcome = RelayOutcome(.tooLarge, detail: "the answer: \(error)")
            }
        }
        if outcome.status != .success, task.fallback != nil { return openFallback(call, outcome: outcome, at: now) }
        settle(call, outcome: outcome, at: now)
    }

    // MARK: App services

    /// Why a device may not use a service of an app here; `nil` when it may.
    func refusal(of service: String, _ app: String, to device: String) -> RelayOutcome? {
        if let guest = directory.guests[device] { return refusal(of: service, app, toGuest: guest) }
        if isDenied(device, app: app, service: service) { return Self.denied }
        if app == Self.ownApp, service == Self.pingService { return nil }
        if app == Self.ownApp {
            guard offeredOwnServices.contains(service) else {
                return RelayOutcome(.serviceUnavailable, detail: "the device does not offer \(service)")
            }
            return obstacleToGrant(device, app: app, service: service)
        }
        guard members.values.contains(where: { $0.app == app && $0.isPublished }) else {
            return RelayOutcome(.appNotInstalled, detail: "no app \(app) offers anything there")
        }
        guard let offered = provider(of: service, app: app), offered.service.access != .off else {
            return RelayOutcome(.serviceUnavailable, detail: "\(app) does not offer the service \(service)")
        }
        return offered.service.access == .granted ? obstacleToGrant(device, app: app, service: service) : nil
    }

    /// Why a device may not use what it must be granted; `nil` where it may.
    ///
    /// - Parameter device: The device, or the grantee, that needs the grant.
    func obstacleToGrant(_ device: String, app: String, service: String, isGuests: Bool = false) -> RelayOutcome? {
        let isGranted =
            isGuests
            ? settings.isGrantedAlone(device, app: app, service: service)
            : settings.isGranted(device, app: app, service: service)
        guard isGranted else { return notGranted(device, app: app, service: service) }
        guard !isScreenUnlocked, settings.needsUnlocked(device, app: app, service: service, isGuests: isGuests) else {
            return nil
        }
        return RelayOutcome(
            .denied, detail: "the owner has granted this while the screen there is unlocked, which it is not now")
    }

    static var denied: RelayOutcome {
        RelayOutcome(.notAuthorized, detail: "the owner of the device has refused this")
    }

    /// Whether the person has denied a device a service; another person's device under its id alone, or with its key.
    func isDenied(_ device: String, app: String, service: String) -> Bool {
        settings.isDenied(grantee(device), app: app, service: service)
            || settings.isDeniedAlone(device, app: app, service: service)
    }

    func notGranted(_ device: String, app: String, service: String) -> RelayOutcome {
        RelayOutcome(
            .notAuthorized,
            detail:
                "the owner of the device has not granted this; there: `aldaba relay grant \(device) \(app) \(service)`")
    }

    mutating func take(_ call: RelayCall, _ route: RelayRoute, _ now: Int64) {
        let client: ClientNumber
        if let connection = call.connection {
            guard let line = calls.lines[connection], line.device == route.peer else {
                return reply(route.id, device: route.peer, outcome: RelayOutcome(.connectionClosed))
            }
            // Any other obstacle closes the connection when it occurs.
            if !isScreenUnlocked, settings.unlockedGrants != nil, line.isServed,
                let refusal = refusal(of: line.service, line.app, to: line.device), refusal.status == .denied
            {
                return reply(route.id, device: route.peer, outcome: refusal)
            }
            client = line.client
        } else {
            if let refusal = refusal(of: call.service, call.app, to: route.peer) {
                return park(.call(call), app: call.app, service: call.service, route: route, refusal: refusal, at: now)
            }
            if call.app == Self.ownApp, call.service == Self.pingService {
                return reply(
                    route.id, device: route.peer, outcome: RelayOutcome(.success, message: Self.pong(call.message)))
            }
            if call.app == Self.ownApp { return serve(call, route, now) }
            guard let offered = provider(of: call.service, app: call.app) else { return }
            client = offered.client
        }
        let number = add(route, client, now)
        if let connection = call.connection {
            work.tasks[number]?.connection = connection
            calls.lines[connection]?.usedAt = now
        }
        directives.append(
            .tell(
                client,
                .asked(call: number, id: route.id, device: route.peer, deadline: route.deadline, call)))
    }

    mutating func open(
        _ app: String, service: String, caller: String, route: RelayRoute, content: RelayContent, at now: Int64
    ) {
        if let refusal = refusal(of: service, app, to: route.peer) {
            return park(content, app: app, service: service, route: route, refusal: refusal, at: now)
        }
        guard calls.lines[route.id] == nil else {
            return reply(
                route.id, device: route.peer, outcome: RelayOutcome(.failed, detail: "a connection of this id is open"))
        }
        guard calls.lines.count < Self.taskLimit else {
            return reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(.resourceLimits, detail: "too many connections are open here"))
        }
        if let offered = provider(of: service, app: app) {
            addLine(
                route.id,
                line: Line(client: offered.client, device: route.peer, app: app, service: service, isServed: true),
                at: now)
            directives.append(
                .tell(
                    offered.client,
                    .opened(connection: route.id, device: route.peer, app: app, service: service, caller: caller)))
        }
        reply(route.id, device: route.peer, outcome: RelayOutcome(.success))
    }

    /// The answer to a ping: the same, of the type `pong`.
    static func pong(_ ping: RelayMap) -> RelayMap { ping.merging(["Type": "pong"]) { $1 } }

    // MARK: Addresses

    mutating func take(_ launch: RelayLaunch, _ route: RelayRoute, _ now: Int64) {
        let named = launch.app.map { [$0] } ?? launch.preferredApps
        let fallback = launch.fallback.flatMap(Self.usableFallback)
        let verdict = AddressRule.verdict(on: launch.uri) { scheme in
            // An app that opens everything opens it where it is named; it allows nothing to the system.
            settings.schemes.contains(scheme) || anyOpener(of: scheme) != nil
                || named.contains { opener(of: scheme, app: $0) != nil }
        }
        guard case .allowed(let scheme) = verdict else {
            guard case .denied(let why) = verdict else { return }
            return openFallback(
                add(route, nil, fallback: fallback, now), outcome: RelayOutcome(.denied, detail: why), at: now)
        }
        var chosen = named.compactMap { opener(of: scheme, app: $0) }.first
        // No app was named: an app here that opens the scheme has precedence over the system's choice. For a scheme
        // that the system always opens, only a running app has.
        if chosen == nil, launch.app == nil { chosen = anyOpener(of: scheme) }
        if case .remembered(let app)? = chosen, AddressRule.always.contains(scheme), !named.contains(app) {
            chosen = nil
        }
        switch chosen {
        case .running(let client):
            let number = add(route, client, fallback: fallback, now)
            directives.append(.tell(client, .launch(call: number, device: route.peer, launch)))
        case .remembered(let app): wait(for: app, content: .launch(launch), fallback: fallback, route: route, at: now)
        case nil:
            // One that is named may be one that the session bus starts.
            let number = add(route, nil, fallback: fallback, now)
            directives.append(.open(ticket: number, uri: launch.uri, app: launch.app))
        }
    }

    private static func usableFallback(_ uri: String) -> String? {
        guard case .allowed("https") = AddressRule.verdict(on: uri, isAllowed: { _ in false }) else { return nil }
        return uri
    }

    /// Opens the page that the caller named, after the address could not be opened for certain.
    mutating func openFallback(_ number: Int64, outcome: RelayOutcome, at now: Int64) {
        guard let uri = work.tasks[number]?.fallback else { return settle(number, outcome: outcome, at: now) }
        work.tasks[number]?.client = nil
        work.tasks[number]?.fallback = nil
        work.tasks[number]?.isFallback = true
        directives.append(.open(ticket: number, uri: uri, app: nil))
    }

    /// The outcome of ``Directive/open(ticket:uri:)``.
    package mutating func opened(_ ticket: Int64, _ outcome: RelayOutcome, at now: Int64) -> [Directive] {
        guard let task = work.tasks[ticket] else { return [] }
        if outcome.status != .success {
            openFallback(ticket, outcome: outcome, at: now)
        } else {
            let detail = task.isFallback ? "the address could not be opened; its fallback was" : nil
            settle(ticket, outcome: RelayOutcome(.success, detail: detail), at: now)
        }
        return take(now)
    }
}
