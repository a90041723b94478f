import Foundation
import RelayProtocol

/// Devices that become a person's, and that are not any more.
extension RelayHost {
    /// A pairing in progress, which is reported to a terminal.
    struct Pairing {
        var client: ClientNumber
        var request: Int64
        var pairing: RelayPairing
        var device: String?
    }

    // MARK: Pairing

    mutating func pair(_ word: String?, number: Int64, client: ClientNumber) {
        guard directory.isOpen else {
            return answer(
                client, number, RelayOutcome(.networkUnavailable, detail: "there is no way to the server now"))
        }
        guard pairing == nil else {
            return answer(client, number, RelayOutcome(.resourceLimits, detail: "another device is being paired here"))
        }
        if let word {
            guard RelayPairing.isWord(word) else {
                return answer(
                    client, number,
                    RelayOutcome(
                        .failed, detail: "\(word) is no word that `aldaba relay pair` prints on the other device"))
            }
            let place = RelayPairing.place(of: word)
            pairing = Pairing(
                client: client, request: number, pairing: RelayPairing(place: place, account: nil))
            directives.append(.tell(client, .told(request: number, ["state": "waiting"])))
            return directives.append(.send(.meet(place: place)))
        }
        var changed = settings
        let account = changed.account ?? AccountKey()
        changed.account = account
        apply(changed)
        let drawn = RelayPairing.newWord()
        pairing = Pairing(
            client: client, request: number,
            pairing: RelayPairing(place: RelayPairing.place(of: drawn), account: account))
        directives.append(.tell(client, .told(request: number, ["state": "waiting", "word": .string(drawn)])))
        directives.append(.send(.meet(place: RelayPairing.place(of: drawn))))
    }

    mutating func pairingPeerJoined(_ device: String) {
        guard pairing?.device == nil, pairing != nil else { return }
        pairing?.device = device
        follow(pairing?.pairing.peerJoined() ?? [])
    }

    /// The server has refused something. A pairing that still waits for the other device ends with it.
    mutating func pairingRefused(_ why: String) {
        if pairing?.device == nil { failPairing(why) }
    }

    /// A device says something to be paired.
    package mutating func receivePairingMessage(_ device: String, _ message: [UInt8], at now: Int64) -> [Directive] {
        guard pairing?.device == device else { return [] }
        follow(pairing?.pairing.receive(message) ?? [])
        return take(now)
    }

    mutating func confirm(_ areSame: Bool, number: Int64, client: ClientNumber) {
        guard pairing?.client == client else {
            return answer(client, number, RelayOutcome(.failed, detail: "no device is being paired"))
        }
        follow(pairing?.pairing.answered(areSame: areSame) ?? [])
    }

    private mutating func follow(_ steps: [RelayPairing.Step]) {
        for step in steps {
            guard let current = pairing, let device = current.device else { return }
            func tell(_ state: String, _ more: RelayMap = [:]) {
                directives.append(
                    .tell(
                        current.client,
                        .told(request: current.request, more.merging(["state": .string(state)]) { $1 })))
            }
            switch step {
            case .say(let message):
                directives.append(
                    .send(
                        .route(
                            RelayRoute(
                                peer: device, id: UUID.random(), deadline: nil, body: [RelayPairing.mark] + message))))
            case .compare(let digits): tell("compare", ["digits": .string(digits)])
            case .given:
                tell("paired")
                pairing = nil
            case .join(let account):
                tell("paired")
                pairing = nil
                var changed = settings
                changed.change(account: account)
                apply(changed)
            case .failed(let why): failPairing(why)
            }
        }
    }

    mutating func failPairing(_ why: String) {
        guard let current = pairing else { return }
        pairing = nil
        answer(current.client, current.request, RelayOutcome(.failed, detail: why))
    }

    /// The person went away.
    mutating func endPairing() {
        follow(pairing?.pairing.answered(areSame: false) ?? [])
        pairing = nil
    }

    // MARK: The screen

    /// The desktop reports whether the screen is locked. Until then no grant counts that needs an unlocked one.
    package mutating func screenChanged(isUnlocked: Bool) { isScreenUnlocked = isUnlocked }

    // MARK: Taking a device out

    /// Takes a device out: the others that are there get another key, which the one that is taken out never had.
    mutating func dismiss(_ device: String, number: Int64, client: ClientNumber) {
        guard let devices = directory.devices, let target = devices[device], device != directory.ownID,
            let account = settings.account
        else {
            return answer(
                client, number, RelayOutcome(.unknownDevice, detail: "none of your devices has the id \(device)"))
        }
        let key = AccountKey()
        var left: [String] = []
        for other in devices.values.sorted(by: { $0.id < $1.id })
        where other.id != directory.ownID && other.id != device {
            guard other.presence == .online else {
                left.append(other.name)
                continue
            }
            send(.rekey(key.text, proof: account.proof(ofSuccessor: key)), to: other.id, deadline: nil)
        }
        directives.append(.send(.dismiss(device: device)))
        var changed = settings
        changed.account = key
        changed.list?.set(device, key: target.key, isRemoved: true)
        changed.forget(device)
        withDocuments { $0.move(from: account) }
        apply(changed)
        log(RelayLogEntry(device: device, what: "taken out here", status: .success))
        directives.append(
            .tell(
                client,
                .managed(
                    request: number,
                    ["dismissed": .string(target.name), "left": .array(left.map(RelayValue.string))])))
    }

    /// Another of the user's devices has removed one. The message was sealed by a device that had the account's key,
    /// but may be old. It counts only where this device still has the key that the account had then.
    mutating func rekeyed(_ text: String, _ proof: [UInt8], by device: String) {
        guard let key = AccountKey(text: text), let account = settings.account else { return }
        guard account.isSucceeded(by: key, proof) else {
            return log(RelayLogEntry(device: device, what: "an account key that is not the next", status: .denied))
        }
        var changed = settings
        changed.account = key
        apply(changed)
    }

    /// This device was taken out.
    mutating func dismissed(_ now: Int64) {
        directory.devices = nil
        directory.undescribed = []
        refusal = "this device was taken from its account; `aldaba relay pair` joins one"
        endAll("this device was taken from its account", now)
        for client in members.keys { tellWatcher(client) }
    }
}
