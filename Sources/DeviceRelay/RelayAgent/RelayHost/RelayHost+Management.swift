import Foundation
import RelayProtocol

/// The commands of a user at a terminal.
extension RelayHost {
    mutating func manage(
        _ number: Int64, management: RelayManagement, client: ClientNumber, at now: Int64
    ) {
        guard members[client]?.isTerminal == true else {
            return answer(
                client, number, RelayOutcome(.notAuthorized, detail: "only a person at a terminal manages the account"))
        }
        switch management {
        case .grants(let first): directives.append(.tell(client, .managed(request: number, grants(from: first))))
        case .commands: directives.append(.tell(client, .managed(request: number, lastCommands)))
        case .log: directives.append(.tellLog(client, request: number))
        case .pair(let word): pair(word, number: number, client: client)
        case .confirm(let areSame): confirm(areSame, number: number, client: client)
        case .dismiss(let device): dismiss(device, number: number, client: client)
        default:
            var changed = settings
            if let refusal = change(&changed, by: management, now) { return answer(client, number, refusal) }
            apply(changed, now)
            directives.append(.tell(client, .managed(request: number, status(after: management))))
        }
    }

    /// Changes settings according to a user's command.
    ///
    /// - Returns: The reason why they are not changed; `nil` where they may be.
    private mutating func change(
        _ changed: inout RelaySettings, by management: RelayManagement, _ now: Int64
    ) -> RelayOutcome? {
        switch management {
        case .showAccount: if changed.account == nil { changed.account = AccountKey() }
        case .join(let text):
            guard let key = AccountKey(text: text) else {
                return RelayOutcome(
                    .failed, detail: "that is no account key; `aldaba relay account show` tells one")
            }
            guard changed.account.map({ $0 == key }) ?? true else {
                return RelayOutcome(
                    .failed,
                    detail: "this device is of another account; take it from that by `aldaba relay account leave`")
            }
            changed.change(account: key)
        case .leave:
            leaveList()
            endAll("this device has left its account", now)
            changed.change(account: nil)
        case .rename(let name):
            if let fault = RelaySettings.fault(ofName: name) { return RelayOutcome(.failed, detail: fault) }
            changed.name = name
        case .scheme(let scheme, let allowed):
            let scheme = scheme.lowercased()
            if let fault = AddressRule.fault(ofRule: scheme, isAllowed: allowed) {
                return RelayOutcome(.denied, detail: fault)
            }
            if allowed { changed.schemes.insert(scheme) } else { changed.schemes.remove(scheme) }
        case .grant(
            let device, let app, let service, let allowed, let seconds,
            let needsUnlocked):
            guard seconds.map({ RelayManagement.grantSeconds.contains($0) }) ?? true else {
                return RelayOutcome(
                    .failed, detail: "a grant lasts 1 to \(RelayManagement.grantSeconds.upperBound) seconds")
            }
            let grant = RelaySettings.Grant(device: device, app: app, service: service)
            guard
                allowed || changed.isGrantedAlone(device, app: app, service: service)
                    || changed.isDeniedAlone(device, app: app, service: service)
            else {
                return RelayOutcome(
                    .failed, detail: "no such thing was granted or denied; `aldaba relay grants` lists them")
            }
            changed.decide(
                grant, isGranted: allowed, until: seconds.map { now + 1000 * $0 }, needsUnlocked: needsUnlocked)
        case .deny(let device, let app, let service):
            changed.deny(RelaySettings.Grant(device: device, app: app, service: service))
        case .connections(let idle, let grace):
            guard [idle, grace].allSatisfy({ $0.map { (0...86_400).contains($0) } ?? true }) else {
                return RelayOutcome(.failed, detail: "that is 0 to 86400 seconds")
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
        case .status, .grants, .commands, .log, .pair, .confirm, .dismiss: break
        }
        return nil
    }

    /// The status that a terminal receives in response to its management command.
    private func status(after management: RelayManagement) -> RelayMap {
        var answer: RelayMap = [
            "name": .string(settings.name), "hasAccount": .bool(settings.account != nil),
            "isConnected": .bool(directory.devices != nil),
        ]
        if let ownID = directory.ownID { answer["device"] = .string(ownID) }
        if let refusal { answer["refusal"] = .string(refusal) }
        var shared: RelayMap = ["files": .string(settings.filesFolder ?? ownFilesFolder)]
        if let photos = settings.photosFolder { shared["photos"] = .string(photos) }
        shared["programs"] = .dictionary((settings.programs ?? [:]).mapValues { .array($0.map(RelayValue.string)) })
        if case .status = management { answer["shared"] = .dictionary(shared) }
        if let list = settings.list { answer["listCounter"] = .integer(list.counter) }
        if directory.devices != nil { answer["missing"] = .integer(missingCount) }
        if case .connections = management {
            answer["idle"] = .integer(idleTime.map { $0 / 1000 } ?? 0)
            answer["grace"] = .integer(lineGrace / 1000)
        }
        if case .showAccount = management, let account = settings.account { answer["key"] = .string(account.text) }
        return answer
    }

    /// A page of the granted and denied access rights, in one sorted list.
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
                    if let end = settings.grantEnds?[grant] { entry["until"] = .date(milliseconds: end) }
                    if settings.unlockedGrants?.contains(grant) ?? false { entry["unlocked"] = true }
                    return .dictionary(entry)
                }),
        ]
    }

    /// Takes back the grants whose time is over.
    mutating func endGrants(_ now: Int64) {
        let ended = settings.endedGrants(at: now)
        guard !ended.isEmpty else { return }
        var changed = settings
        for grant in ended { changed.decide(grant, isGranted: false) }
        apply(changed, now)
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

    /// Takes settings into use, and does what follows from them.
    ///
    /// - Parameter now: The time, where connections between apps may follow from it.
    mutating func apply(_ changed: RelaySettings, _ now: Int64? = nil) {
        guard changed != settings else { return }
        let old = settings
        settings = changed
        if old.grants != changed.grants || old.denials != changed.denials { closeRefused(old) }
        if let now, old.connectionIdle != changed.connectionIdle || old.connectionGrace != changed.connectionGrace {
            calls.linesDue = now
        }
        directives.append(.save(changed))
        if old.account != changed.account {
            withDocuments { $0.lost() }
            directory.devices = nil
            directory.undescribed = []
            directory.met = [:]
            forgetOthers()
            if old.account != nil, directory.isOpen { directives.append(.send(.goodbye)) }
            for client in members.keys { tellWatcher(client) }
        }
        let offers =
            old.photosFolder != changed.photosFolder || old.programs != changed.programs || old.wake != changed.wake
        if old.account != changed.account || old.name != changed.name || offers { sayHello() }
    }
}
