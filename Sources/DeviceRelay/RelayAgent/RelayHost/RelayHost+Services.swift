import Foundation
import RelayProtocol

/// The question that the user is asked when a device calls a service for the first time.
package struct RelayQuestion: Hashable, Sendable {
    /// The device's id.
    package var device: String
    /// The device's display name.
    package var deviceName: String
    /// The app that offers the service.
    package var app: String
    /// The app's display name.
    package var appName: String
    /// The service.
    package var service: String
    /// Whether the device is another person's.
    package var isGuests = false

    /// The user's answer to the question.
    package enum Answer: String, Hashable, Sendable, CaseIterable {
        /// This time, every time, or never.
        case once, always, deny
    }
}

/// A log entry for a command that another device sent to this one, or this one to another.
package struct RelayLogEntry: Hashable, Sendable {
    /// The other device's id.
    package var device: String
    /// The kind of command and its target, without addresses and contents.
    package var what: String
    /// The outcome of the command.
    package var status: RelayStatus
    /// The command's id, which both devices note.
    package var id: UUID?
    /// The app here that wanted it from the other device; `nil` where the other device wanted it.
    package var asker: String?
}

/// The agent's own services, apps that are started on demand, and the user's consent on first use.
extension RelayHost {
    /// How long a person is waited for, and an app that is being started, in milliseconds.
    static var questionTimeout: Int64 { 60_000 }
    static var startTimeout: Int64 { 20_000 }
    /// How many questions are open at a time.
    static var questionLimit: Int { 8 }
    /// How many commands of one device wait until theirs can be asked: of a device of the person's, and of another's.
    static var unaskedLimits: (own: Int, guests: Int) { (64, 4) }
    /// How many apps' offers are remembered.
    static var offerLimit: Int { 64 }
    /// How long the server keeps something for a device that is away, in milliseconds.
    static var waitingTimeout: Int64 { 299_000 }

    /// The agent's own services that can be asked now.
    var offeredOwnServices: [String] {
        ownServices.filter { service in
            switch service {
            case "photos": settings.photosFolder != nil
            case "run": settings.programs != nil
            default: true
            }
        }
    }

    // MARK: Own services

    mutating func serve(_ call: RelayCall, _ route: RelayRoute, _ now: Int64) {
        let number = add(route, nil, now)
        work.tasks[number]?.ownService = call.service
        directives.append(.serve(ticket: number, service: call.service, call.message))
    }

    /// Delivers the response of one of the agent's own services. A `path` in it names a file that is sent to the
    /// caller.
    package mutating func served(_ ticket: Int64, _ outcome: RelayOutcome, at now: Int64) -> [Directive] {
        guard let task = work.tasks[ticket], task.ownService != nil else { return [] }
        var outcome = outcome
        if case .string(let path)? = outcome.message?.removeValue(forKey: "path") {
            guard let offer = RelayFiles.offer(of: path), give(path, offer, to: task.device) else {
                outcome = RelayOutcome(.failed, detail: "the file cannot be sent now")
                settle(ticket, outcome: outcome, at: now)
                return take(now)
            }
        }
        settle(ticket, outcome: outcome, at: now)
        return take(now)
    }

    // MARK: First use, and apps that do not run

    /// Defers a command that cannot be carried out yet until the user allows it, or until its app runs.
    mutating func park(
        _ content: RelayContent, app: String, service: String, route: RelayRoute, refusal: RelayOutcome,
        at now: Int64
    ) {
        switch refusal.status {
        case .notAuthorized: ask(content, app: app, service: service, route: route, refusal: refusal, at: now)
        case .appNotInstalled:
            guard let access = settings.offers?[app]?.services[service] else {
                return reply(route.id, device: route.peer, outcome: refusal)
            }
            if access == RelayService.Access.granted.rawValue, directory.guests[route.peer] == nil,
                let obstacle = obstacleToGrant(route.peer, app: app, service: service)
            {
                return park(content, app: app, service: service, route: route, refusal: obstacle, at: now)
            }
            wait(for: app, content: content, route: route, at: now)
        default: reply(route.id, device: route.peer, outcome: refusal)
        }
    }

    /// Has an app started that had offered something, and carries a command out when it offers that again.
    mutating func wait(
        for app: String, content: RelayContent, fallback: String? = nil, route: RelayRoute, at now: Int64
    ) {
        let number = add(route, nil, fallback: fallback, now)
        let isFirst = !work.tasks.values.contains { $0.awaits == app }
        work.tasks[number]?.call = content
        work.tasks[number]?.awaits = app
        work.tasks[number]?.isAllowed = work.isAllowing
        work.tasks[number]?.timeout = min(Self.lastWord(before: route.deadline, now), now + Self.startTimeout)
        // At the caller's own deadline nothing is opened any more.
        if let end = route.deadline, end <= now + Self.startTimeout { work.tasks[number]?.fallback = nil }
        if isFirst { directives.append(.start(app: app)) }
    }

    /// Asks the user one question about a device at a time; further ones are queued.
    private mutating func ask(
        _ content: RelayContent, app: String, service: String, route: RelayRoute, refusal: RelayOutcome,
        at now: Int64
    ) {
        let canAsk = canAsk(of: route.peer)
        let limit = directory.guests[route.peer] == nil ? Self.unaskedLimits.own : Self.unaskedLimits.guests
        guard !isDenied(route.peer, app: app, service: service),
            canAsk || work.unasked.count(where: { work.tasks[$0]?.device == route.peer }) < limit
        else { return reply(route.id, device: route.peer, outcome: refusal) }
        let number = add(route, nil, now)
        work.tasks[number]?.call = content
        work.tasks[number]?.isAsked = canAsk
        work.tasks[number]?.timeout = min(Self.lastWord(before: route.deadline, now), now + Self.questionTimeout)
        guard canAsk else { return work.unasked.append(number) }
        let name = members.values.first { $0.app == app }?.name ?? settings.offers?[app]?.name
        directives.append(
            .ask(
                ticket: number,
                RelayQuestion(
                    device: route.peer, deviceName: self.name(of: route.peer) ?? route.peer, app: app,
                    appName: name ?? (app == Self.ownApp ? "Aldaba" : app), service: service,
                    isGuests: directory.guests[route.peer] != nil)))
    }

    private func canAsk(of device: String) -> Bool {
        let open = work.tasks.values.lazy.filter(\.isAsked)
        return !open.contains { $0.device == device } && open.count < Self.questionLimit
    }

    /// Carries out, refuses or asks what waited for the end of another question.
    mutating func askNext(_ now: Int64) {
        guard !work.unasked.isEmpty else { return }
        let waiting = work.unasked
        work.unasked = []
        for number in waiting {
            guard let task = work.tasks[number] else { continue }
            if canAsk(of: task.device) { carryOut(parked: number, now) } else { work.unasked.append(number) }
        }
    }

    /// The user did not allow something: commands queued for the same answer are refused too.
    private mutating func refuse(_ number: Int64, outcome: RelayOutcome, at now: Int64) {
        guard let task = work.tasks[number], let content = task.call, let target = Self.target(of: content) else {
            return
        }
        settle(number, outcome: outcome, at: now)
        for other in work.unasked where work.tasks[other]?.device == task.device {
            guard let content = work.tasks[other]?.call, let wanted = Self.target(of: content), wanted == target else {
                continue
            }
            settle(other, outcome: outcome, at: now)
        }
    }

    /// Applies the user's answer to ``Directive/ask(ticket:_:)``; `nil` where the user could not be asked, or did not
    /// answer.
    package mutating func decided(_ ticket: Int64, _ answer: RelayQuestion.Answer?, at now: Int64) -> [Directive] {
        guard let task = work.tasks[ticket], task.isAsked, let content = task.call else { return [] }
        let (app, service) = Self.target(of: content) ?? ("", "")
        let grant = RelaySettings.Grant(device: grantee(task.device), app: app, service: service)
        var changed = settings
        switch answer {
        case .always: changed.grants.insert(grant)
        case .deny: changed.denials = (changed.denials ?? []).union([grant])
        case .once, nil: break
        }
        apply(changed)
        guard answer == .once || answer == .always else {
            refuse(ticket, outcome: notGranted(grantee(task.device), app: app, service: service), at: now)
            return take(now)
        }
        work.tasks[ticket]?.isAllowed = true
        carryOut(parked: ticket, now)
        return take(now)
    }

    /// Carries out the commands that waited for an app, once it offers what they need.
    mutating func resume(app: String, _ now: Int64) {
        for (number, task) in work.tasks where task.awaits == app {
            guard let content = task.call, isOffered(content, by: app) else { continue }
            carryOut(parked: number, now)
        }
    }

    private func isOffered(_ content: RelayContent, by app: String) -> Bool {
        if case .launch(let launch) = content, let scheme = AddressRule.scheme(of: launch.uri),
            case .running? = opener(of: scheme, app: app)
        {
            return true
        }
        return Self.target(of: content).map { provider(of: $0.service, app: $0.app) != nil } ?? false
    }

    private static func target(of content: RelayContent) -> (app: String, service: String)? {
        switch content {
        case .call(let call): (call.app, call.service)
        case .open(let app, let service, _): (app, service)
        case .offer(let offer): (offer.app ?? "", offer.service ?? "")
        default: nil
        }
    }

    private mutating func carryOut(parked number: Int64, _ now: Int64) {
        guard let task = work.tasks[number], let content = task.call else { return }
        // Timers do not advance while the machine is suspended.
        guard task.deadline.map({ $0 > now }) ?? true else {
            return settle(
                number, outcome: RelayOutcome(.expired, detail: "its deadline came before it was allowed"), at: now)
        }
        work.tasks[number] = nil
        // Allowed once, it is carried out as if it had been granted, and is not afterwards.
        let kept = settings.grants
        if task.isAllowed, let (app, service) = Self.target(of: content) {
            settings.grants.insert(RelaySettings.Grant(device: grantee(task.device), app: app, service: service))
        }
        work.isAllowing = task.isAllowed
        defer {
            settings.grants = kept
            work.isAllowing = false
        }
        let route = RelayRoute(peer: task.device, id: task.id, deadline: task.deadline, body: [])
        switch content {
        case .launch(let launch): take(launch, route, now)
        case .call(let call): take(call, route, now)
        case .open(let app, let service, let caller):
            open(app, service: service, caller: caller, route: route, content: content, at: now)
        case .offer(let offer): take(offer, app: offer.app ?? "", service: offer.service ?? "", route: route, at: now)
        default: break
        }
    }

    /// The latest time for a result, so that the caller learns before its deadline that nothing was done.
    private static func lastWord(before deadline: Int64?, _ now: Int64) -> Int64 {
        guard let deadline, deadline > now else { return deadline ?? .max }
        let (rest, overflow) = deadline.subtractingReportingOverflow(now)
        return deadline - min(1_000, (overflow ? .max : rest) / 4)
    }

    /// The program of an app has ended, or could not be started: commands that waited for it are settled. Queued
    /// messages, for which no caller waits, keep their timeout.
    package mutating func notRunning(app: String, at now: Int64) -> [Directive] {
        for (number, task) in work.tasks
        where task.awaits == app && mail.queuedMessages[QueuedMessageKey(sender: task.device, id: task.id)] == nil {
            stopWaiting(number, detail: "the app was started, and ended before it offered the service", at: now)
        }
        return take(now)
    }

    /// Settles a command whose user did not answer, or whose app did not start, before the timeout.
    mutating func gaveUp(_ number: Int64, task: Task, at now: Int64) {
        guard task.awaits == nil else {
            return stopWaiting(number, detail: "the app was started, and did not offer the service in time", at: now)
        }
        let detail = "nobody at the device has answered whether this is allowed"
        let outcome = RelayOutcome(.notAuthorized, detail: detail)
        guard task.isAsked else { return settle(number, outcome: outcome, at: now) }
        directives.append(.withdraw(ticket: number))
        refuse(number, outcome: outcome, at: now)
    }

    private mutating func stopWaiting(_ number: Int64, detail: String, at now: Int64) {
        work.tasks[number]?.awaits = nil
        work.tasks[number]?.timeout = nil
        openFallback(number, outcome: RelayOutcome(.appUnavailable, detail: detail), at: now)
    }

    /// Remembers an app's offer, so that the app is started when another device calls it.
    mutating func remember(_ member: Member?) {
        guard let member, !member.isTerminal else { return }
        let services = member.services.filter { $0.access != .off }
        var offers = settings.offers ?? [:]
        if services.isEmpty, member.schemes.isEmpty {
            offers[member.app] = nil
        } else if offers.count < Self.offerLimit || offers[member.app] != nil {
            offers[member.app] = RelaySettings.RememberedOffer(
                name: member.name,
                services: Dictionary(services.map { ($0.name, $0.access.rawValue) }) { $1 },
                schemes: member.schemes, attributes: member.attributes)
        }
        guard offers != settings.offers ?? [:] else { return }
        settings.offers = offers.isEmpty ? nil : offers
        directives.append(.save(settings))
    }

    /// An app is not on this device any more.
    package mutating func removed(app: String, at now: Int64) -> [Directive] {
        guard settings.offers?.removeValue(forKey: app) != nil else { return [] }
        directives.append(.save(settings))
        sayHello()
        return take(now)
    }
}
