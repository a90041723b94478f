import Foundation
import Relay
import RelayWire

/// Messages that want no answer, and that the server keeps for a device that is away.
///
/// Guarantees: what one device tells one app comes to it in order, one after the other; a letter is confirmed to the server only once it is
/// written down here that it was taken, so that it comes again where that was not; what was taken is given to no app again.
extension RelayHost {
    /// A letter that came, until it is written down that it was taken.
    struct Letter {
        var letter: RelayLetter
        var lane: LetterLane
        var call: RelayCall
        /// How often it was given to its app.
        var attempts = 0
        /// Whether its turn has come.
        var isGiven = false
        /// What came of it; `nil` while that is not known.
        var outcome: RelayOutcome?
    }

    /// What came of a letter, for its sender.
    struct LetterEnd {
        var key: LetterKey
        var outcome: RelayOutcome
        var attempts = 0
    }

    /// What comes in order: what one device tells one app.
    struct LetterLane: Hashable {
        var device: String
        var app: String
    }

    /// How long an app, or a person, is waited for with one letter, in milliseconds.
    static var letterPatience: Int64 { 60_000 }
    /// How often a letter is given to an app that ends each time before it has confirmed it.
    static var letterAttempts: Int { 3 }
    /// How many letters are taken from the server before their ends; it gives no more than half as many.
    static var letterLimit: Int { 64 }
    /// How many ends are remembered for devices that could not be told.
    static var untoldLimitOfLetters: Int { 256 }

    // MARK: Telling

    /// Until when a letter is to be kept; `nil` where that is too long.
    func letterEnd(_ deadline: Int64?, _ now: Int64) -> Int64? {
        let end = deadline ?? now + RelayLetter.usualAge
        return end <= now + RelayLetter.longestAge ? end : nil
    }

    /// The server keeps a letter of this device's.
    mutating func letterKept(_ id: UUID, _ now: Int64) {
        guard let letter = sentLetters.removeValue(forKey: id), let command = ledger.kept(id, until: letter, at: now)
        else { return }
        directives.append(.tell(command.client, .answered(request: command.request, id: id, RelayOutcome(.success))))
    }

    /// A letter of this device's has ended, after the server had kept it.
    ///
    /// - Returns: Whether it was one.
    @discardableResult
    mutating func letterEnded(_ id: UUID, _ outcome: RelayOutcome, from device: String? = nil) -> Bool {
        let status = outcome.status
        guard let ended = ledger.letterEnded(id, status, detail: outcome.detail, from: device) else { return false }
        let entry = RelayLogEntry(device: ended.device, what: ended.what, status: status, id: id, asker: ended.asker)
        log(entry)
        return true
    }

    /// Takes back a letter that waits at the server.
    ///
    /// - Returns: Whether there is one that this client may take back; the server's word follows.
    mutating func recall(_ id: UUID, _ number: Int64, _ client: ClientNumber) -> Bool {
        guard let letter = ledger.keptLetter(id), let member = members[client],
            member.isTerminal || member.app == letter.asker
        else { return false }
        guard isOpen else {
            answer(client, number, RelayOutcome(.networkUnavailable, detail: "there is no way to the server now"))
            return true
        }
        guard recalls.count < Self.untoldLimitOfLetters else {
            answer(client, number, RelayOutcome(.resourceLimits, detail: "too many letters are being taken back"))
            return true
        }
        recalls[id, default: []].append((client, number))
        directives.append(.send(.recall(device: letter.device, id: id)))
        return true
    }

    /// The server says whether a letter waited.
    mutating func recalled(_ id: UUID, _ didWait: Bool) {
        let askers = recalls.removeValue(forKey: id) ?? []
        if didWait { letterEnded(id, RelayOutcome(.cancelled)) }
        let outcome =
            didWait
            ? RelayOutcome(.success)
            : RelayOutcome(.failed, detail: "it waits no more: the device has it, or it has ended")
        for (client, number) in askers { answer(client, number, outcome) }
    }

    /// The way to the server is lost, and with it the server's word about letters.
    mutating func lettersLost(_ now: Int64) {
        for id in ledger.underWay() where ledger[id]?.isLetter == true {
            let detail = "the way to the server was lost; tell it again under the same id"
            end(id, RelayOutcome(ledger.isWaiting(id) ? .networkUnavailable : .outcomeUnknown, detail: detail), now)
        }
        let askers = recalls.values.flatMap { $0 }
        recalls = [:]
        for (client, number) in askers {
            answer(client, number, RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost"))
        }
    }

    // MARK: Taking

    /// The letters that this device took before its agent began.
    public mutating func took(_ letters: [TakenLetter], at now: Int64) {
        for letter in letters { taken.add(letter, at: now) }
    }

    /// Another device's letter has come.
    mutating func arrived(_ letter: RelayLetter, _ now: Int64) {
        let key = LetterKey(sender: letter.peer, id: letter.id)
        if let status = taken[key] { return confirm(key, RelayOutcome(status)) }
        guard letters[key] == nil, letters.count < Self.letterLimit else { return }
        guard case .call(var call)? = try? RelayContent(letter.body), call.connection == nil else {
            directives.append(.send(.letterTaken(from: letter.peer, id: letter.id)))
            let what = "a letter that cannot be read"
            return log(RelayLogEntry(device: letter.peer, what: what, status: .denied, id: letter.id))
        }
        call.isOneWay = true
        let lane = LetterLane(device: letter.peer, app: call.app)
        letters[key] = Letter(letter: letter, lane: lane, call: call)
        letterLanes[lane, default: []].append(key)
        if letterLanes[lane]?.count == 1 { give(key, now) }
    }

    /// Gives a letter to its app, or has it started, or asks the person: as with a call.
    private mutating func give(_ key: LetterKey, _ now: Int64) {
        guard let letter = letters[key] else { return }
        guard tasks.count < Self.taskLimit else { return busyLanes.append(letter.lane) }
        described[key.id] = "tell \(letter.call.app)/\(letter.call.service)"
        guard letter.letter.deadline > now else {
            return reply(key.id, key.sender, RelayOutcome(.expired, detail: "it came after its deadline"))
        }
        letters[key]?.attempts += 1
        letters[key]?.isGiven = true
        let end = min(letter.letter.deadline, now + Self.letterPatience)
        let route = RelayRoute(peer: key.sender, id: key.id, deadline: end, body: [])
        take(letter.call, route, now)
    }

    /// What came of a letter: it is written down, and the next one's turn.
    ///
    /// - Returns: Whether it is one.
    mutating func letterSettled(_ key: LetterKey, _ outcome: RelayOutcome) -> Bool {
        guard let letter = letters[key], letter.outcome == nil else { return false }
        letters[key]?.outcome = RelayOutcome(outcome.status, detail: outcome.detail)
        // Its sender may give it again for a while.
        let (until, overflow) = letter.letter.deadline.addingReportingOverflow(TakenLetter.memory)
        directives.append(
            .keep(TakenLetter(key: key, until: overflow ? .max : until, status: outcome.status)))
        endedLanes.append(letter.lane)
        return true
    }

    /// Begins the letters whose turn it is, after what was done before them.
    mutating func nextLetters(_ now: Int64) {
        if tasks.count < Self.taskLimit {
            endedLanes += busyLanes
            busyLanes = []
        }
        while let lane = endedLanes.popLast() {
            guard var keys = letterLanes[lane] else { continue }
            keys.removeAll { letters[$0].map { $0.outcome != nil } ?? true }
            letterLanes[lane] = keys.isEmpty ? nil : keys
            if let next = keys.first, letters[next]?.isGiven == false { give(next, now) }
        }
    }

    /// It is written down that letters were taken, or could not be: those come again when the agent begins anew.
    public mutating func kept(_ all: [TakenLetter], isWritten: Bool, at now: Int64) -> [Directive] {
        for letter in all {
            let outcome = letters.removeValue(forKey: letter.key)?.outcome ?? RelayOutcome(letter.status)
            taken.add(letter, at: now)
            if isWritten { confirm(letter.key, outcome) }
        }
        return take(now)
    }

    /// Tells the server that a letter was taken, and its sender what came of it: now, or when that is there.
    private mutating func confirm(_ key: LetterKey, _ outcome: RelayOutcome) {
        if isOpen { directives.append(.send(.letterTaken(from: key.sender, id: key.id))) }
        tellEnd(LetterEnd(key: key, outcome: outcome))
    }

    private mutating func tellEnd(_ end: LetterEnd) {
        guard known(end.key.sender)?.presence == .online, hasWay(to: end.key.sender),
            let body = try? RelayContent.outcome(command: end.key.id, end.outcome).encoded()
        else {
            if untoldEnds.count >= Self.untoldLimitOfLetters { untoldEnds.removeFirst() }
            return untoldEnds.append(end)
        }
        let id = UUID.random()
        if toldOrder.count >= Self.untoldLimitOfLetters { toldEnds[toldOrder.removeFirst()] = nil }
        toldOrder.append(id)
        toldEnds[id] = end
        directives.append(.send(.route(RelayRoute(peer: end.key.sender, id: id, deadline: nil, body: body))))
    }

    /// An end that was told did not arrive: it is told again when its device is back, or at once where that could not read it.
    ///
    /// - Returns: Whether it was one.
    mutating func endNotTold(_ id: UUID, _ reason: RelayUndelivered) -> Bool {
        guard var end = toldEnds.removeValue(forKey: id) else { return false }
        toldOrder.removeAll { $0 == id }
        end.attempts += 1
        switch reason {
        case .unavailable: untoldEnds.append(end)
        case .begunAnew where end.attempts < Self.letterAttempts: tellEnd(end)
        default: break
        }
        return true
    }

    /// Tells a device that is there again, or all that are, what came of their letters.
    mutating func tellLetterEnds(to device: String? = nil) {
        let all = untoldEnds
        untoldEnds = all.filter { device != nil && $0.key.sender != device }
        for end in all where device == nil || end.key.sender == device { tellEnd(end) }
    }

    /// The app ended before it had confirmed a letter: it is given to it again, and started for that.
    ///
    /// - Returns: Whether it is.
    mutating func giveAgain(_ number: Int64, _ task: Task, _ now: Int64) -> Bool {
        let key = LetterKey(sender: task.device, id: task.id)
        guard let letter = letters[key], letter.outcome == nil, letter.attempts < Self.letterAttempts else {
            return false
        }
        tasks[number] = nil
        letters[key]?.isGiven = false
        give(key, now)
        return true
    }
}
