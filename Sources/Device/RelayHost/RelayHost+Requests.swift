import Foundation
import Relay
import RelayWire

/// What apps and terminals ask.
extension RelayHost {
    /// Takes a request of a client.
    ///
    /// - Parameters:
    ///   - app: The client's bundle id, and `name` its name for people.
    ///   - isTerminal: Whether it is a person's terminal, which may manage the account and offers nothing.
    public mutating func take(
        _ request: RelayRequest, from client: Client, app: String, name: String, isTerminal: Bool, at now: Int64
    ) -> [Directive] {
        if members[client] == nil { members[client] = Member(app: app, name: name, isTerminal: isTerminal) }
        switch request {
        case .publish(let number, let services, let schemes, let attributes):
            publish(number, services, schemes, attributes, client, now)
        case .watch(let number): watch(number, client)
        case .unwatch(let number):
            members[client]?.watches = false
            answer(client, number, RelayOutcome(.success))
        case .command(let number, let id, let device, let deadline, let waits, let order):
            begin(order, id ?? UUID.random(), device, deadline, waits, number, client, now)
        case .stream(let stream, let step): take(step, stream, by: client, now)
        case .find(let number, let device): find(device, number, client)
        case .answer(let call, let outcome): finish(call, outcome, by: client, now)
        case .close(let number, let connection, let reason): close(number, connection, reason, client, now)
        case .cancel(let number, let id): cancel(number, id, client, now)
        case .life(let number, let id):
            let known = ledger.life(of: id)
            directives.append(.tell(client, .life(request: number, known?.life, known?.status)))
        case .manage(let number, let management): manage(number, management, client, now)
        case .unknown: break
        }
        return take(now)
    }

    /// A client's connection to the agent is over.
    public mutating func ended(_ client: Client, at now: Int64) -> [Directive] {
        guard let member = members.removeValue(forKey: client) else { return [] }
        for id in ledger.underWay(of: client) {
            if let file = outgoing[id] { send(.cancel(command: id), to: file.device, deadline: nil) }
            outgoingEnded(id)
            if let stream = appStreams[id] { send(.cancel(command: id), to: stream.device, deadline: nil) }
            appStreamEnded(id)
            if let command = ledger.end(id, .cancelled, at: now) { note(id, command, .cancelled) }
        }
        if pairing?.client == client { endPairing() }
        for (id, line) in lines where line.client == client {
            closeThere(id, line, .cancelled)
        }
        for (id, stream) in appStreams where stream.client == client { appStreamEnded(id) }
        for (number, task) in tasks where task.client == client {
            settle(number, RelayOutcome(.outcomeUnknown, detail: "the app ended before it answered"), now)
        }
        if member.isPublished { sayHello() }
        return take(now)
    }

    mutating func answer(_ client: Client, _ request: Int64, _ outcome: RelayOutcome, id: UUID? = nil) {
        directives.append(.tell(client, .answered(request: request, id: id, outcome)))
    }

    private mutating func publish(
        _ number: Int64, _ services: [RelayService], _ schemes: [String], _ attributes: [String: String],
        _ client: Client, _ now: Int64
    ) {
        guard members[client]?.isTerminal == false else {
            return answer(client, number, RelayOutcome(.notAuthorized, detail: "a terminal offers nothing"))
        }
        let before = describedDevice
        let offered = members[client]
        members[client]?.services = services
        members[client]?.schemes = schemes.map { $0.lowercased() }.filter { !AddressRule.never.contains($0) }
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

    private mutating func watch(_ number: Int64, _ client: Client) {
        members[client]?.watches = true
        members[client]?.seen = [:]
        members[client]?.isEnumerated = false
        answer(client, number, RelayOutcome(.success))
        if let obstacle { directives.append(.tell(client, .watchFailed(obstacle.kind, obstacle.why))) }
        tellWatcher(client)
    }

    // MARK: Commands

    private mutating func begin(
        _ order: RelayOrder, _ id: UUID, _ device: String, _ deadline: Int64?, _ waits: Bool, _ number: Int64,
        _ client: Client, _ now: Int64
    ) {
        func refuse(_ status: RelayStatus, _ detail: String? = nil) {
            answer(client, number, RelayOutcome(status, detail: detail), id: id)
        }
        var device = device
        var connection: UUID?
        if case .send(let id, _) = order {
            guard let line = lines[id], line.client == client else { return refuse(.connectionClosed) }
            device = line.device
            connection = id
        }
        // What is asked over a connection whose way was lost waits for the device.
        let mayWait = connection.map { lines[$0]?.lostAt != nil } ?? false
        if !mayWait, let refusal = hindrance(of: order, device, waits) { return refuse(refusal.status, refusal.detail) }
        let mayWake = known(device)?.presence == .wakeable && order.wakes
        // What somebody repeats on the way must not outlive the memory of ids at the target.
        var end = min(deadline ?? now + Self.patience, now + Self.longestPatience)
        if waits || mayWake { end = min(end, now + Self.waitingPatience) }
        if case .file(_, let offer) = order {
            guard members[client]?.isTerminal == true else {
                return refuse(.notAuthorized, "only a person at a terminal sends files")
            }
            guard outgoing.count < Self.streamLimit, offer.size >= 0 else {
                return refuse(.resourceLimits, "\(Self.streamLimit) files are under way")
            }
            end = min(deadline ?? now + Self.filePatience, now + Self.filePatience)
        }
        if case .stream(let offer) = order {
            guard appStreams.count < Self.streamLimit else {
                return refuse(.resourceLimits, "\(Self.streamLimit) streams are under way")
            }
            guard offer.app != nil, offer.service != nil else {
                return refuse(.serviceUnavailable, "a stream is for a service of an app")
            }
            end = min(deadline ?? now + Self.filePatience, now + Self.filePatience)
        }
        guard end > now else { return refuse(.expired, "the deadline has passed") }
        let content = content(of: order, client)
        let body: [UInt8]
        do throws(RelayFault) { body = try content.encoded() } catch {
            return refuse(.tooLarge, error.description)
        }
        if let fault = fault(of: order) { return refuse(.tooLarge, fault) }
        var opens: (app: String, service: String)?
        if case .open(let app, let service) = order { opens = (app, service) }
        var command = CommandLedger<Client>.Command(
            client: client, request: number, device: device, deadline: end, opens: opens)
        command.asker = members[client]?.app ?? ""
        command.what = Self.description(of: content)
        command.givenAt = now
        command.waits = waits
        command.connection = connection
        if let refusal = ledger.begin(id, command) { return answer(client, number, refusal, id: id) }
        if case .file(let path, let offer) = order {
            outgoing[id] = Outgoing(client: client, request: number, device: device, path: path, offer: offer)
        }
        if case .stream(let offer) = order { give(offer, id, to: device, by: client) }
        let route = RelayRoute(peer: device, id: id, deadline: end, body: body, waits: waits)
        if let connection, ask(route, over: connection, now) { return }
        if mayWait {
            return self.end(
                id, RelayOutcome(.resourceLimits, detail: "too much waits for the device to come back"), now)
        }
        directives.append(.send(.route(route)))
        ledger.sent(id)
    }

    /// What keeps an order from being given to a device; `nil` for nothing.
    private func hindrance(of order: RelayOrder, _ device: String, _ waits: Bool) -> RelayOutcome? {
        guard known != nil else { return RelayOutcome(.networkUnavailable, detail: obstacle?.why) }
        guard let target = known(device) ?? hosts[device], device != ownID else {
            return RelayOutcome(.unknownDevice, detail: "none of your devices has the id \(device)")
        }
        if known(device) == nil, !order.isForOthers {
            return RelayOutcome(
                .denied, detail: "\(target.name) is another person's device: only its services can be asked")
        }
        guard target.presence == .online || target.presence == .wakeable && order.wakes || waits else {
            return RelayOutcome(.notDelivered, detail: "\(target.name) is not connected")
        }
        return nil
    }

    private func content(of order: RelayOrder, _ client: Client) -> RelayContent {
        let caller = members[client]?.app ?? ""
        switch order {
        case .launch(let uri, let app, let fallback, let preferredApps):
            return .launch(
                RelayLaunch(uri: uri, app: app, fallback: fallback, preferredApps: preferredApps, caller: caller))
        case .call(let app, let service, let message):
            return .call(RelayCall(app: app, service: service, caller: caller, message: message))
        case .open(let app, let service): return .open(app: app, service: service, caller: caller)
        case .file(_, let offer), .stream(let offer): return .offer(offer)
        case .send(let connection, let message):
            let line = lines[connection]
            return .call(
                RelayCall(
                    app: line?.app ?? "", service: line?.service ?? "", caller: caller, connection: connection,
                    message: message))
        }
    }

    /// What is wrong with an order's message; `nil` for nothing.
    private func fault(of order: RelayOrder) -> String? {
        switch order {
        case .call(_, _, let message), .send(_, let message):
            do throws(RelayFault) {
                _ = try RelayEncoder.encode(message, limits: .largestMessage)
                return nil
            } catch { return error.description }
        case .launch, .open, .file, .stream: return nil
        }
    }

    private mutating func close(
        _ number: Int64, _ id: UUID, _ reason: RelayCloseReason, _ client: Client, _ now: Int64
    ) {
        guard let line = lines[id], line.client == client else {
            return answer(client, number, RelayOutcome(.connectionClosed))
        }
        if line.lostAt != nil { endAsked(line, "the connection is closed", now) }
        closeThere(id, line, reason)
        answer(client, number, RelayOutcome(.success))
    }

    private mutating func cancel(_ number: Int64, _ id: UUID, _ client: Client, _ now: Int64) {
        guard let command = ledger[id], command.client == client || members[client]?.isTerminal == true else {
            return answer(client, number, RelayOutcome(.failed, detail: "no command of this id is under way"))
        }
        // Where the command may wait at the server, this comes after it.
        send(.cancel(command: id), to: command.device, deadline: command.deadline, waits: command.waits)
        end(id, RelayOutcome(.cancelled), now)
        answer(client, number, RelayOutcome(.success))
    }

    // MARK: A person's word

    private mutating func manage(
        _ number: Int64, _ management: RelayManagement, _ client: Client, _ now: Int64
    ) {
        guard members[client]?.isTerminal == true else {
            return answer(
                client, number, RelayOutcome(.notAuthorized, detail: "only a person at a terminal manages the account"))
        }
        var changed = settings
        switch management {
        case .status: break
        case .showAccount: if changed.account == nil { changed.account = AccountKey() }
        case .join(let text):
            guard let key = AccountKey(text: text) else {
                return answer(
                    client, number,
                    RelayOutcome(.failed, detail: "that is no account key; `aldaba relay account show` tells one"))
            }
            changed.change(account: key)
        case .leave:
            leaveList()
            changed.change(account: nil)
        case .rename(let name): changed.name = name
        case .scheme(let scheme, let allowed):
            let scheme = scheme.lowercased()
            guard !allowed || !AddressRule.never.contains(scheme) else {
                return answer(
                    client, number, RelayOutcome(.denied, detail: "addresses of the scheme \(scheme) are never opened"))
            }
            if allowed { changed.schemes.insert(scheme) } else { changed.schemes.remove(scheme) }
        case .grant(let device, let app, let service, let allowed):
            let grant = RelaySettings.Grant(device: device, app: app, service: service)
            if allowed { changed.grants.insert(grant) } else { changed.grants.remove(grant) }
            changed.denials?.remove(grant)
        case .deny(let device, let app, let service):
            let denial = RelaySettings.Grant(device: device, app: app, service: service)
            changed.grants.remove(denial)
            changed.denials = (changed.denials ?? []).union([denial])
        case .grants(let first): return directives.append(.tell(client, .managed(request: number, grants(from: first))))
        case .commands: return directives.append(.tell(client, .managed(request: number, lastCommands)))
        case .connections(let idle, let grace):
            guard [idle, grace].allSatisfy({ $0.map { (0...86_400).contains($0) } ?? true }) else {
                return answer(client, number, RelayOutcome(.failed, detail: "that is 0 to 86400 seconds"))
            }
            changed.connectionIdle = idle ?? changed.connectionIdle
            changed.connectionGrace = grace ?? changed.connectionGrace
        case .filesFolder(let path): changed.filesFolder = path
        case .photosFolder(let path): changed.photosFolder = path
        case .wakeBy(let channel): changed.wake = channel
        case .program(let name, let words):
            var programs = changed.programs ?? [:]
            programs[name] = words.isEmpty ? nil : words
            changed.programs = programs.isEmpty ? nil : programs
        case .log: return directives.append(.tellLog(client, request: number))
        case .pair(let word): return pair(word, number, client)
        case .confirm(let areSame): return confirm(areSame, number, client)
        case .dismiss(let device): return dismiss(device, number, client)
        }
        apply(changed, now)
        var answer: RelayMap = [
            "name": .string(settings.name), "hasAccount": .bool(settings.account != nil),
            "isConnected": .bool(devices != nil),
        ]
        if let ownID { answer["device"] = .string(ownID) }
        if let list = settings.list { answer["listCounter"] = .integer(list.counter) }
        if case .connections = management {
            answer["idle"] = .integer(idleTime.map { $0 / 1000 } ?? 0)
            answer["grace"] = .integer(lineGrace / 1000)
        }
        if case .showAccount = management, let account = settings.account { answer["key"] = .string(account.text) }
        directives.append(.tell(client, .managed(request: number, answer)))
    }

    /// What was granted and denied, in one order.
    private func grants(from first: Int64) -> RelayMap {
        let granted = settings.grants.map { ($0, true) }
        let all = (granted + (settings.denials ?? []).map { ($0, false) }).sorted { one, other in
            (one.0.device, one.0.app, one.0.service) < (other.0.device, other.0.app, other.0.service)
        }
        let page = all.dropFirst(Int(clamping: max(0, first))).prefix(RelayManagement.pageSize)
        return [
            "count": .integer(Int64(all.count)),
            "grants": .array(
                page.map { grant, isGranted in
                    var entry: RelayMap = [
                        "device": .string(grant.device), "app": .string(grant.app), "service": .string(grant.service),
                        "granted": .bool(isGranted),
                    ]
                    if let name = name(of: grant.device) { entry["name"] = .string(name) }
                    return .dictionary(entry)
                }),
        ]
    }

    /// The commands that were given here last, as a terminal shows them.
    private var lastCommands: RelayMap {
        [
            "commands": .array(
                ledger.last(100).map { entry in
                    var told: RelayMap = [
                        "id": .uuid(entry.id), "device": .string(entry.device), "what": .string(entry.what),
                        "life": .string(entry.life.rawValue), "at": .date(milliseconds: entry.givenAt),
                    ]
                    if let status = entry.status { told["status"] = .string(status.rawValue) }
                    if let name = name(of: entry.device) { told["name"] = .string(name) }
                    return .dictionary(told)
                })
        ]
    }

    ///
    /// - Parameter now: The time, where connections between apps may follow from it.
    mutating func apply(_ changed: RelaySettings, _ now: Int64? = nil) {
        guard changed != settings else { return }
        let old = settings
        settings = changed
        if old.grants != changed.grants || old.denials != changed.denials { closeRefused(old) }
        if let now, old.connectionIdle != changed.connectionIdle || old.connectionGrace != changed.connectionGrace {
            linesDue = now
        }
        directives.append(.save(changed))
        if old.account != changed.account {
            devices = nil
            undescribed = []
            met = [:]
            forgetOthers()
            if old.account != nil, isOpen { directives.append(.send(.goodbye)) }
            for client in members.keys { tellWatcher(client) }
        }
        let offers =
            old.photosFolder != changed.photosFolder || old.programs != changed.programs || old.wake != changed.wake
        if old.account != changed.account || old.name != changed.name || offers { sayHello() }
    }
}
