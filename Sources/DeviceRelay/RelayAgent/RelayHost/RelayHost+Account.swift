import CoreValues
import Foundation
import RelayProtocol

/// The account of this device and the settings that a user at a terminal changes: devices that are added to the account
/// and removed from it, and the list by which the devices tell each other of that.
extension RelayHost {
    // MARK: A user at a terminal

    /// Carries out a command of a user at a terminal.
    mutating func manage(
        _ management: RelayManagement, for client: ClientNumber, request: Int64, at now: Timestamp
    ) {
        guard clients[client]?.isTerminal == true else {
            let detail = "only a person at a terminal manages the account"
            return answer(client, request: request, RelayOutcome(.notAuthorized, detail: detail))
        }
        switch management {
        case .grants(let first):
            let page = settings.page(ofGrantsFrom: first) { name(of: $0) }
            directives.append(.tell(client, .managed(request: request, page)))
        case .commands: directives.append(.tell(client, .managed(request: request, lastCommands)))
        case .log: directives.append(.tellLog(client, request: request))
        case .pair(let word): pair(word, for: client, request: request, at: now)
        case .confirm(let areSame):
            guard pairing.isBegun(by: client) else {
                let outcome = RelayOutcome(.failed, detail: "no device is being paired")
                return answer(client, request: request, outcome)
            }
            perform(pairing.answer(areSame: areSame), at: now)
        case .dismiss(let device): dismiss(device, for: client, request: request)
        default:
            var changed = settings
            if case .leave = management {
                leaveList()
                endAll("this device has left its account", at: now)
            }
            if let refusal = changed.change(by: management, at: now) {
                return answer(client, request: request, refusal)
            }
            apply(changed, at: now)
            directives.append(.tell(client, .managed(request: request, status(after: management))))
        }
    }

    /// The status that a terminal receives in response to its management command.
    private func status(after management: RelayManagement) -> RelayMap {
        var answer: RelayMap = [
            "name": .string(settings.name), "hasAccount": .bool(settings.account != nil),
            "isConnected": .bool(devices.listed != nil),
        ]
        if let ownID = devices.ownID { answer["device"] = .string(ownID) }
        if let refusal { answer["refusal"] = .string(refusal) }
        var shared: RelayMap = ["files": .string(settings.filesFolder ?? machine.filesFolder)]
        if let photos = settings.photosFolder { shared["photos"] = .string(photos) }
        shared["programs"] = .dictionary((settings.programs ?? [:]).mapValues { .array($0.map(RelayValue.string)) })
        if case .status = management { answer["shared"] = .dictionary(shared) }
        if let list = settings.list { answer["listCounter"] = .integer(list.counter) }
        if devices.listed != nil { answer["missing"] = .integer(missingCount) }
        if case .connections = management {
            let times = CallConnections.Times(settings)
            answer["idle"] = .integer(times.idle?.components.seconds ?? 0)
            answer["grace"] = .integer(times.grace.components.seconds)
        }
        if case .showAccount = management, let account = settings.account { answer["key"] = .string(account.text) }
        return answer
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

    // MARK: Settings

    /// Takes back the grants whose time is over.
    mutating func endGrants(at now: Timestamp) {
        let ended = settings.endedGrants(at: now)
        guard !ended.isEmpty else { return }
        var changed = settings
        for grant in ended { changed.decide(grant, isGranted: false) }
        apply(changed, at: now)
    }

    /// Takes settings into use, and does what follows from them.
    ///
    /// - Parameter now: The time, where connections between apps may follow from it.
    mutating func apply(_ changed: RelaySettings, at now: Timestamp? = nil) {
        guard changed != settings else { return }
        let old = settings
        settings = changed
        if old.grants != changed.grants || old.denials != changed.denials { closeTakenBack(since: old) }
        if let now, old.connectionIdle != changed.connectionIdle || old.connectionGrace != changed.connectionGrace {
            connections.look(at: now)
        }
        directives.append(.save(changed))
        if old.account != changed.account {
            withDocuments { $0.lost() }
            devices.forgetListed()
            devices.introduced = [:]
            forgetOthers()
            if old.account != nil, devices.isOpen { directives.append(.send(.goodbye)) }
            tellWatchers()
        }
        let offers =
            old.photosFolder != changed.photosFolder || old.programs != changed.programs || old.wake != changed.wake
        if old.account != changed.account || old.name != changed.name || offers { sayHello() }
    }

    /// Closes the connections for which the person has taken back what they were opened by.
    private mutating func closeTakenBack(since old: RelaySettings) {
        let rights = rights
        for (id, connection) in connections.open where connection.isServed {
            guard rights.isTakenBack(connection, since: old) else { continue }
            close(id, reason: .cancelled)
            directives.append(.tell(connection.client, .closed(connection: id, .cancelled)))
        }
    }

    /// The desktop reports whether the screen is locked. Until then no grant counts that needs an unlocked one.
    package mutating func screenChanged(isUnlocked: Bool) { isScreenUnlocked = isUnlocked }

    // MARK: Pairing

    private mutating func pair(_ word: String?, for client: ClientNumber, request: Int64, at now: Timestamp) {
        guard devices.isOpen else {
            let outcome = RelayOutcome(.networkUnavailable, detail: "there is no way to the server now")
            return answer(client, request: request, outcome)
        }
        guard !pairing.isInProgress else {
            let outcome = RelayOutcome(.resourceLimits, detail: "another device is being paired here")
            return answer(client, request: request, outcome)
        }
        if let word {
            guard RelayPairing.isWord(word) else {
                let detail = "\(word) is no word that `aldaba relay pair` prints on the other device"
                return answer(client, request: request, RelayOutcome(.failed, detail: detail))
            }
            return perform(pairing.begin(word, account: nil, for: client, request: request), at: now)
        }
        var changed = settings
        let account = changed.account ?? AccountKey()
        changed.account = account
        apply(changed)
        perform(pairing.begin(nil, account: account, for: client, request: request), at: now)
    }

    /// A device says something to be paired.
    package mutating func receivePairingMessage(_ device: String, _ message: [UInt8], at now: Timestamp) -> [Directive]
    {
        guard pairing.isPairing(with: device) else { return [] }
        perform(pairing.receive(message), at: now)
        return takeDirectives(at: now)
    }

    // MARK: Removing a device

    /// Removes a device: the others that are there get another key, which the removed one never had.
    private mutating func dismiss(_ device: String, for client: ClientNumber, request: Int64) {
        guard let listed = devices.listed, let target = listed[device], device != devices.ownID,
            let account = settings.account
        else {
            let outcome = RelayOutcome(.unknownDevice, detail: "none of your devices has the id \(device)")
            return answer(client, request: request, outcome)
        }
        let key = AccountKey()
        var left: [String] = []
        for other in listed.values.sorted(by: { $0.id < $1.id })
        where other.id != devices.ownID && other.id != device {
            guard other.presence == .online else {
                left.append(other.name)
                continue
            }
            send(.rekey(key.text, proof: account.proof(ofSuccessor: key)), to: other.id)
        }
        directives.append(.send(.dismiss(device: device)))
        var changed = settings
        changed.account = key
        changed.list?.set(device, key: target.key, isRemoved: true)
        changed.forget(device)
        withDocuments { $0.move(from: account) }
        apply(changed)
        log(RelayLogEntry(device: device, what: "taken out here", status: .success))
        let told: RelayMap = ["dismissed": .string(target.name), "left": .array(left.map(RelayValue.string))]
        directives.append(.tell(client, .managed(request: request, told)))
    }

    /// Another of the user's devices has removed one. The message was sealed by a device that had the account's key,
    /// but may be old. It counts only where this device still has the key that the account had then.
    mutating func rekeyed(_ text: String, proof: [UInt8], by device: String) {
        guard let key = AccountKey(text: text), let account = settings.account else { return }
        guard account.isSucceeded(by: key, proof) else {
            return log(RelayLogEntry(device: device, what: "an account key that is not the next", status: .denied))
        }
        var changed = settings
        changed.account = key
        apply(changed)
    }

    /// This device was removed from its account.
    mutating func dismissed(at now: Timestamp) {
        devices.forgetListed()
        refusal = "this device was taken from its account; `aldaba relay pair` joins one"
        endAll("this device was taken from its account", at: now)
        tellWatchers()
    }

    // MARK: The list

    /// Adds this device where the list does not contain it, and sends the list to all present devices.
    mutating func joinList() {
        addThisDeviceToList()
        sendList()
    }

    private mutating func addThisDeviceToList() {
        guard let ownID = devices.ownID, let key = settings.ownKey else { return }
        var list = settings.list ?? RelayDeviceList()
        list.set(ownID, key: key, isRemoved: false)
        keep(list)
    }

    /// Sends the list to one device, or to all that are present.
    mutating func sendList(to device: String? = nil) {
        guard let list = settings.list, let account = settings.account, let known = devices.all else { return }
        let signature = account.signature(of: list)
        for other in known.values.sorted(by: { $0.id < $1.id })
        where other.id != devices.ownID && other.presence == .online && (device == nil || other.id == device) {
            send(.list(list, signature: signature), to: other.id)
        }
    }

    /// Handles the list of another device. It is signed as a whole by the account's key; the server neither keeps nor
    /// reads it. A device that it marks as removed is not accepted from the server.
    mutating func receive(_ list: RelayDeviceList, signature: [UInt8], from device: String, at now: Timestamp) {
        guard settings.account?.hasSigned(list, signature) == true else {
            return log(RelayLogEntry(device: device, what: "a device list that is not the account's", status: .denied))
        }
        let own = settings.list ?? RelayDeviceList()
        let merged = own.merged(with: list)
        guard merged != own else {
            if merged.entries != list.entries { sendList(to: device) }
            return
        }
        keep(merged)
        for (id, device) in devices.all ?? [:] where id != devices.ownID && merged.isRemoved(id, key: device.key) {
            gone(id, at: now)
            tellWatchers()
        }
        // The device that reported this one as removed did not know that it has joined again.
        addThisDeviceToList()
        if settings.list?.entries != list.entries { sendList() }
    }

    private mutating func keep(_ list: RelayDeviceList) {
        guard list != settings.list else { return }
        settings.list = list
        directives.append(.save(settings))
    }

    /// How many devices of the list the server does not know under the account's key, as where that changed while this
    /// device was away.
    private var missingCount: Int64 {
        Int64(
            (settings.list?.entries ?? []).count { entry in
                !entry.isRemoved && entry.id != devices.ownID && devices[entry.id] == nil
            })
    }

    /// This device leaves: the others learn it from this device.
    private mutating func leaveList() {
        guard let ownID = devices.ownID, let key = settings.ownKey, var list = settings.list else { return }
        list.set(ownID, key: key, isRemoved: true)
        settings.list = list
        sendList()
    }
}
