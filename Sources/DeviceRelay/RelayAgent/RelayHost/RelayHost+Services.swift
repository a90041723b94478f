import CoreValues
import Foundation
import RelayProtocol

/// Services here that cannot be called at once: the agent's own, those that need the user's consent on first use, apps
/// that are started on demand or open addresses, and apps that receive queued messages in order.
extension RelayHost {
    /// The access of other devices to the services here, as it is now.
    var rights: AccessRights {
        AccessRights(
            settings: settings, others: others, clients: clients, ownServices: machine.services,
            isScreenUnlocked: isScreenUnlocked)
    }

    /// The agent's own services that can be asked now.
    var offeredOwnServices: [String] { machine.services.filter { settings.offersOwnService($0) } }

    // MARK: Own services

    /// Has one of the agent's own services carry out a call.
    mutating func serve(_ call: RelayCall, route: RelayRoute, at now: Timestamp) {
        let number = work.add(route, for: nil, at: now)
        work.tasks[number]?.ownService = call.service
        directives.append(.serve(ticket: number, service: call.service, call.message))
    }

    /// Delivers the response of one of the agent's own services. A `path` in it names a file that is sent to the
    /// caller.
    package mutating func served(_ ticket: Int64, _ outcome: RelayOutcome, at now: Timestamp) -> [Directive] {
        guard let task = work.tasks[ticket], task.ownService != nil else { return [] }
        var outcome = outcome
        if case .string(let path)? = outcome.message?.removeValue(forKey: "path") {
            guard let offer = RelayFiles.offer(of: path), give(path, offer, to: task.device) else {
                settle(ticket, RelayOutcome(.failed, detail: "the file cannot be sent now"), at: now)
                return takeDirectives(at: now)
            }
        }
        settle(ticket, outcome, at: now)
        return takeDirectives(at: now)
    }

    // MARK: Consent on first use

    /// Defers a command that cannot be carried out yet until the user allows it, or until its app runs.
    mutating func postpone(
        _ content: RelayContent, app: String, service: String, route: RelayRoute, _ refusal: RelayOutcome,
        at now: Timestamp
    ) {
        switch refusal.status {
        case .notAuthorized: ask(content, app: app, service: service, route: route, refusal, at: now)
        case .appNotInstalled:
            guard let access = settings.offers?[app]?.services[service] else {
                return reply(route.id, to: route.peer, refusal)
            }
            if access == RelayService.Access.granted.rawValue, others.guests[route.peer] == nil,
                let obstacle = rights.obstacleToGrant(route.peer, app: app, service: service)
            {
                return postpone(content, app: app, service: service, route: route, obstacle, at: now)
            }
            wait(for: app, content, route: route, at: now)
        default: reply(route.id, to: route.peer, refusal)
        }
    }

    /// Asks the user one question about a device at a time; further ones are queued.
    private mutating func ask(
        _ content: RelayContent, app: String, service: String, route: RelayRoute, _ refusal: RelayOutcome,
        at now: Timestamp
    ) {
        let isGuests = others.guests[route.peer] != nil
        let canAsk = work.canAsk(about: route.peer)
        guard !rights.isDenied(route.peer, app: app, service: service),
            canAsk || work.canWait(for: route.peer, isGuests: isGuests)
        else { return reply(route.id, to: route.peer, refusal) }
        let number = work.add(route, for: nil, at: now)
        work.postpone(number, content, canAsk: canAsk, at: now)
        guard canAsk else { return }
        let name = clients.name(of: app) ?? settings.offers?[app]?.name
        let question = RelayQuestion(
            device: route.peer, deviceName: self.name(of: route.peer) ?? route.peer, app: app,
            appName: name ?? (app == Self.ownApp ? "Aldaba" : app), service: service, isGuests: isGuests)
        directives.append(.ask(ticket: number, question))
    }

    /// Carries out, refuses or asks what waited for the end of another question.
    mutating func askNext(at now: Timestamp) {
        guard !work.unasked.isEmpty else { return }
        let waiting = work.unasked
        work.unasked = []
        for number in waiting {
            guard let task = work.tasks[number] else { continue }
            if work.canAsk(about: task.device) { resume(number, at: now) } else { work.unasked.append(number) }
        }
    }

    /// The user did not allow something: commands queued for the same answer are refused too.
    private mutating func refuse(_ number: Int64, _ outcome: RelayOutcome, at now: Timestamp) {
        guard let task = work.tasks[number], task.call?.target != nil else { return }
        settle(number, outcome, at: now)
        for other in work.unasked(like: task) { settle(other, outcome, at: now) }
    }

    /// Applies the user's answer to ``Directive/ask(ticket:_:)``; `nil` where the user could not be asked, or did not
    /// answer.
    package mutating func decided(_ ticket: Int64, _ answer: RelayQuestion.Answer?, at now: Timestamp) -> [Directive] {
        guard let task = work.tasks[ticket], task.isAsked, let content = task.call else { return [] }
        let (app, service) = content.target ?? ("", "")
        let grantee = others.grantee(task.device)
        let grant = RelaySettings.Grant(device: grantee, app: app, service: service)
        var changed = settings
        switch answer {
        case .always: changed.grants.insert(grant)
        case .deny: changed.denials = (changed.denials ?? []).union([grant])
        case .once, nil: break
        }
        apply(changed)
        guard answer == .once || answer == .always else {
            refuse(ticket, AccessRights.notGranted(grantee, app: app, service: service), at: now)
            return takeDirectives(at: now)
        }
        work.tasks[ticket]?.isAllowed = true
        resume(ticket, at: now)
        return takeDirectives(at: now)
    }

    /// Carries out a deferred command.
    private mutating func resume(_ number: Int64, at now: Timestamp) {
        guard let task = work.tasks[number], let content = task.call else { return }
        // Timers do not advance while the machine is suspended.
        guard task.deadline.map({ $0 > now }) ?? true else {
            let outcome = RelayOutcome(.expired, detail: "its deadline came before it was allowed")
            return settle(number, outcome, at: now)
        }
        work.tasks[number] = nil
        // Allowed once, it is carried out as if it had been granted, and is not afterwards.
        let kept = settings.grants
        if task.isAllowed, let (app, service) = content.target {
            let grantee = others.grantee(task.device)
            settings.grants.insert(RelaySettings.Grant(device: grantee, app: app, service: service))
        }
        work.isAllowing = task.isAllowed
        defer {
            settings.grants = kept
            work.isAllowing = false
        }
        take(
            content, route: RelayRoute(peer: task.device, id: task.id, deadline: task.deadline?.rawValue, body: []),
            at: now)
    }

    /// Settles a command whose user did not answer, or whose app did not start, before the timeout.
    mutating func giveUp(_ number: Int64, _ task: IncomingCommand, at now: Timestamp) {
        guard task.awaits == nil else {
            let detail = "the app was started, and did not offer the service in time"
            return stopWaiting(number, detail: detail, at: now)
        }
        let detail = "nobody at the device has answered whether this is allowed"
        let outcome = RelayOutcome(.notAuthorized, detail: detail)
        guard task.isAsked else { return settle(number, outcome, at: now) }
        directives.append(.withdraw(ticket: number))
        refuse(number, outcome, at: now)
    }

    // MARK: Apps that do not run

    /// Has an app started that had offered something, and carries a command out when it offers that again.
    mutating func wait(
        for app: String, _ content: RelayContent, fallback: String? = nil, route: RelayRoute, at now: Timestamp
    ) {
        let number = work.add(route, for: nil, fallback: fallback, at: now)
        if work.postpone(number, content, until: app, at: now) { directives.append(.start(app: app)) }
    }

    /// Carries out the commands that waited for an app, once it offers what they need.
    mutating func resume(app: String, at now: Timestamp) {
        for (number, task) in work.tasks where task.awaits == app {
            guard let content = task.call, isOffered(content, by: app) else { continue }
            resume(number, at: now)
        }
    }

    private func isOffered(_ content: RelayContent, by app: String) -> Bool {
        if case .launch(let launch) = content, let scheme = AddressRule.scheme(of: launch.uri),
            case .running? = clients.opener(of: scheme, app: app, remembered: settings.offers)
        {
            return true
        }
        return content.target.map { clients.provider(of: $0.service, app: $0.app) != nil } ?? false
    }

    /// The program of an app has ended, or could not be started: commands that waited for it are settled. Queued
    /// messages, for which no caller waits, keep their timeout.
    package mutating func notRunning(app: String, at now: Timestamp) -> [Directive] {
        for (number, task) in work.tasks
        where task.awaits == app && !messages.received.contains(QueuedMessageKey(sender: task.device, id: task.id)) {
            stopWaiting(number, detail: "the app was started, and ended before it offered the service", at: now)
        }
        return takeDirectives(at: now)
    }

    private mutating func stopWaiting(_ number: Int64, detail: String, at now: Timestamp) {
        work.tasks[number]?.awaits = nil
        work.tasks[number]?.timeout = nil
        openFallback(number, RelayOutcome(.appUnavailable, detail: detail), at: now)
    }

    /// An app is not on this device any more.
    package mutating func removed(app: String, at now: Timestamp) -> [Directive] {
        guard settings.offers?.removeValue(forKey: app) != nil else { return [] }
        directives.append(.save(settings))
        sayHello()
        return takeDirectives(at: now)
    }

    // MARK: Addresses

    mutating func take(_ launch: RelayLaunch, route: RelayRoute, at now: Timestamp) {
        let fallback = launch.fallback.flatMap(Self.usableFallback)
        switch AddressDecision(launch, clients: clients, settings: settings) {
        case .tell(let client):
            let number = work.add(route, for: client, fallback: fallback, at: now)
            directives.append(.tell(client, .launch(call: number, device: route.peer, launch)))
        case .start(let app): wait(for: app, .launch(launch), fallback: fallback, route: route, at: now)
        case .open:
            let number = work.add(route, for: nil, fallback: fallback, at: now)
            directives.append(.open(ticket: number, uri: launch.uri, app: launch.app))
        case .refuse(let outcome):
            openFallback(work.add(route, for: nil, fallback: fallback, at: now), outcome, at: now)
        case .findOpener(let scheme):
            let number = work.add(route, for: nil, fallback: fallback, at: now)
            directives.append(.findOpener(ticket: number, scheme: scheme, app: launch.app))
        }
    }

    /// The answer to ``Directive/findOpener(ticket:scheme:app:)``.
    package mutating func foundOpener(
        _ ticket: Int64, scheme: String, isPresent: Bool, at now: Timestamp
    ) -> [Directive] {
        guard work.tasks[ticket] != nil else { return [] }
        openFallback(ticket, AddressDecision.outcome(forNotAllowed: scheme, hasOpener: isPresent), at: now)
        return takeDirectives(at: now)
    }

    private static func usableFallback(_ uri: String) -> String? {
        guard case .allowed("https") = AddressRule.verdict(on: uri, isAllowed: { _ in false }) else { return nil }
        return uri
    }

    /// Opens the page that the caller named, after the address could not be opened for certain.
    mutating func openFallback(_ number: Int64, _ outcome: RelayOutcome, at now: Timestamp) {
        guard let uri = work.tasks[number]?.fallback else { return settle(number, outcome, at: now) }
        work.tasks[number]?.client = nil
        work.tasks[number]?.fallback = nil
        work.tasks[number]?.isFallback = true
        directives.append(.open(ticket: number, uri: uri, app: nil))
    }

    /// The outcome of ``Directive/open(ticket:uri:app:)``.
    package mutating func launchEnded(_ ticket: Int64, _ outcome: RelayOutcome, at now: Timestamp) -> [Directive] {
        guard let task = work.tasks[ticket] else { return [] }
        if outcome.status != .success {
            openFallback(ticket, outcome, at: now)
        } else {
            let detail = task.isFallback ? "the address could not be opened; its fallback was" : nil
            settle(ticket, RelayOutcome(.success, detail: detail), at: now)
        }
        return takeDirectives(at: now)
    }

    // MARK: Queued messages

    /// Restores the messages that this device took before its agent started, and the attempts at those that it did not.
    package mutating func restoreReceived(
        _ queuedMessages: [ReceivedMessage], attempts: [DeliveryAttempt] = [], at now: Timestamp
    ) {
        for queuedMessage in queuedMessages { messages.received.remember(queuedMessage, at: now) }
        for attempt in attempts { messages.received.remember(attempt) }
    }

    /// A queued message of another device has arrived.
    mutating func arrived(_ queuedMessage: QueuedMessage, at now: Timestamp) {
        let key = QueuedMessageKey(sender: queuedMessage.peer, id: queuedMessage.id)
        if let status = messages.received.statusOfEnded(key) { return confirm(key, RelayOutcome(status)) }
        guard messages.received.hasCapacity(for: key) else { return }
        guard case .call(var call)? = try? RelayContent(queuedMessage.body), call.connection == nil else {
            directives.append(.send(.queuedMessageTaken(from: queuedMessage.peer, id: queuedMessage.id)))
            let what = "a queued message that cannot be read"
            return log(RelayLogEntry(device: queuedMessage.peer, what: what, status: .denied, id: queuedMessage.id))
        }
        call.isOneWay = true
        if messages.received.add(queuedMessage, call: call, key: key) { deliver(key, at: now) }
    }

    /// Delivers a message to its app, starts the app, or asks the user: as with a call.
    private mutating func deliver(_ key: QueuedMessageKey, at now: Timestamp) {
        guard let (call, deadline) = messages.received.call(of: key) else { return }
        guard work.hasCapacity else { return messages.received.postpone(key) }
        work.described[key.id] = "tell \(call.app)/\(call.service)"
        guard deadline > now else {
            return reply(key.id, to: key.sender, RelayOutcome(.expired, detail: "it came after its deadline"))
        }
        guard !messages.received.isExhausted(key) else {
            let detail = "it was given to the app three times, and the app or the agent ended each time"
            return reply(key.id, to: key.sender, RelayOutcome(.outcomeUnknown, detail: detail))
        }
        messages.received.begin(key)
        let end = min(deadline, now + ReceivedMessages.timeout)
        take(.call(call), route: RelayRoute(peer: key.sender, id: key.id, deadline: end.rawValue, body: []), at: now)
    }

    /// Begins the messages that are due now, since the previous one of their lane has ended.
    mutating func deliverNext(at now: Timestamp) {
        if work.hasCapacity { messages.received.resumePostponed() }
        while let next = messages.received.next() { deliver(next, at: now) }
    }

    /// Delivers a message again to an app that ended before it had confirmed it; the app is started for that.
    ///
    /// - Returns: Whether it is delivered again.
    mutating func deliverAgain(_ number: Int64, _ task: IncomingCommand, at now: Timestamp) -> Bool {
        let key = QueuedMessageKey(sender: task.device, id: task.id)
        guard messages.received.isRepeated(key) else { return false }
        work.tasks[number] = nil
        deliver(key, at: now)
        return true
    }

    /// The outcomes of messages are on the disk, or could not be written: the latter messages are delivered again when
    /// the agent restarts.
    package mutating func kept(_ all: [ReceivedMessage], isWritten: Bool, at now: Timestamp) -> [Directive] {
        for queuedMessage in all {
            let outcome = messages.received.remove(queuedMessage, at: now)
            if isWritten { confirm(queuedMessage.key, outcome) }
        }
        return takeDirectives(at: now)
    }

    /// Confirms a message to the server, and reports its outcome to the sender: now, or when that is reachable.
    private mutating func confirm(_ key: QueuedMessageKey, _ outcome: RelayOutcome) {
        if devices.isOpen { directives.append(.send(.queuedMessageTaken(from: key.sender, id: key.id))) }
        report(OutcomeReports.Report(key: key, outcome: outcome))
    }

    private mutating func report(_ report: OutcomeReports.Report) {
        let sender = report.key.sender
        let isReachable = devices.isOnline(sender) && devices.canReach(sender)
        directives += messages.reports.report(report, isReachable: isReachable)
    }

    /// Reports the outcomes of their messages to a device that is present again, or to all that are.
    mutating func reportOutcomes(to device: String? = nil) {
        for report in messages.reports.takePending(for: device) { self.report(report) }
    }
}
