import DeviceChannel
import PushCore
import PushServer

/// Sessions, messages between nodes and the device of a history.
extension NodeHistory {
    // MARK: A session

    /// Writes notifications of a batch that follows the last one that the session knows.
    mutating func write(_ ids: [NotificationID], at number: Int) {
        if ids.contains(where: { $0.rawValue == 0 }) { look(number) }
        let notifications = ids.filter { $0.rawValue != 0 }.map(Self.outgoing)
        follow(nodes[number].session?.flow.deliver(notifications) ?? [], at: number)
    }

    /// Reads what waits.
    mutating func look(_ number: Int) {
        gaps += 1
        follow(nodes[number].session?.flow.waitingChanged() ?? [], at: number)
    }

    private static func outgoing(_ id: NotificationID) -> OutgoingNotification {
        OutgoingNotification(
            id: id, apnsID: APNsID(rawValue: ""), team: TeamID(rawValue: ""), topic: Topic(rawValue: ""),
            environment: .sandbox, lane: .apns, pushType: nil, priority: .immediate, collapseID: nil,
            acceptedAt: Timestamp(rawValue: 0), expiresAt: .distantFuture, payload: [])
    }

    mutating func follow(_ directives: [DeliveryFlow.Directive], at number: Int) {
        for directive in directives {
            switch directive {
            case .write(let notifications): write(notifications, at: number)
            case .page(let after, let limit):
                let first = after ?? NotificationID(rawValue: 0)
                let ids =
                    database.entries.map(\.id) + database.tombstones.map(\.id) + database.recalls.map(\.id)
                let page = ids.filter { $0 > first }.sorted().prefix(limit).map(Self.outgoing)
                follow(nodes[number].session?.flow.pageRead(page) ?? [], at: number)
            case .notSent, .fail: break
            }
        }
    }

    private mutating func write(_ notifications: [OutgoingNotification], at number: Int) {
        var sent: [NotificationID] = []
        for id in notifications.map(\.id) {
            if let tombstone = database.tombstones.first(where: { $0.id == id }) {
                nodes[number].session?.toDevice.append(.deletion(tombstone))
            } else if let recall = database.recalls.first(where: { $0.id == id }) {
                nodes[number].session?.toDevice.append(.recall(recall))
            } else {
                nodes[number].session?.toDevice.append(.notification(id))
                sent.append(id)
            }
        }
        wasSent.formUnion(sent)
        if !sent.allSatisfy(nodes[number].mailbox.contains) { nodes[number].isRead = false }
        nodes[number].mailbox.sent(sent)
        nodes[number].inFlight.formUnion(sent)
    }

    // MARK: Messages between nodes

    mutating func deliverMessage() {
        guard !messages.isEmpty else { return }
        receive(messages.remove(at: Int(random.next() % UInt64(messages.count))))
    }

    private mutating func receive(_ message: Message) {
        let number = message.node
        guard nodes[number].isAlive, var session = nodes[number].session else { return }
        if message.isWake { return wake(number) }
        guard session.epoch == message.epoch else { return }
        let step = mistake == .writesAtOnce ? .next : session.progress.receive(message.revision)
        nodes[number].session = session
        switch step {
        case .next: write(message.ids, at: number)
        case .gap: look(number)
        case .known: break
        }
    }

    /// The session reads what waits, and ends where the device has a later one elsewhere.
    private mutating func wake(_ number: Int) {
        look(number)
        _ = batch(at: number, ids: 0) { _, _ in }
    }

    /// A message is lost: its sender records that.
    mutating func loseMessage() {
        guard !messages.isEmpty else { return }
        let message = messages.remove(at: Int(random.next() % UInt64(messages.count)))
        nodes[message.node].missed = true
    }

    mutating func heartbeat(_ number: Int) {
        guard nodes[number].missed, mistake != .forgetsMissed else { return }
        nodes[number].missed = false
        if nodes[number].session != nil { wake(number) }
    }

    /// A node stands still, or dies with its sessions and what it was about to send.
    mutating func endNode() {
        guard let number = anyNode() else { return }
        nodes[number].isAlive = false
        nodes[number].isPaused = chance(2)
        guard !nodes[number].isPaused else { return }
        nodes[number].session = nil
        if connectedTo == number { connectedTo = nil }
        var left: [Message] = []
        for message in messages where chance(2) { left.append(message) }
        messages = left
        // The others notice it, and compare their sessions with the row.
        for other in nodes.indices where other != number { nodes[other].missed = true }
    }

    /// A node goes on that stood still, and looks what it has missed; one that died is started.
    mutating func goOn(_ number: Int) {
        guard nodes[number].isPaused else { return start(number) }
        (nodes[number].isAlive, nodes[number].isPaused, nodes[number].missed) = (true, false, true)
    }

    private mutating func start(_ number: Int) {
        var generator = NotificationIDGenerator(node: UInt16(number), highWater: database.last.rawValue)
        generator.raiseCeiling(to: .max)
        nodes[number] = Node(offset: nodes[number].offset, generator: generator)
    }

    // MARK: The device

    /// Stores what the next packets bring, and acknowledges it.
    mutating func read() {
        guard let number = connectedTo, var session = nodes[number].session else {
            connectedTo = nil
            return
        }
        let count = min(session.toDevice.count, Int(random.next() % 3) + 1)
        let items = session.toDevice.prefix(count)
        session.toDevice.removeFirst(count)
        var stored: [NotificationID] = []
        for item in items {
            switch item {
            case .notification(let id):
                if unconfirmed.insert(id).inserted {
                    if let last = shown.last, last >= id { fault("\(id) is shown after \(last)") }
                    shown.append(id)
                    visible.insert(id)
                }
                stored.append(id)
            case .deletion(let tombstone):
                unconfirmed.insert(tombstone.id)
                stored.append(tombstone.id)
            case .recall(let recall):
                if unconfirmed.insert(recall.id).inserted { visible.remove(recall.notification) }
                stored.append(recall.id)
            case .confirmation(let ids): unconfirmed.subtract(ids)
            }
        }
        if !stored.isEmpty { session.toServer.append(stored) }
        nodes[number].session = session
    }

    /// All nodes run, no message is lost any more, and the device stays: then everything has to be in its place.
    mutating func settle() {
        guard faults.isEmpty else { return }
        isSettling = true
        for number in nodes.indices where !nodes[number].isAlive { goOn(number) }
        if connectedTo == nil || nodes[connectedTo ?? 0].session == nil { connect(to: Int(random.next() % 3)) }
        var rounds = 0
        while faults.isEmpty, rounds < 600 {
            rounds += 1
            retry()
            while !messages.isEmpty { deliverMessage() }
            for number in nodes.indices { heartbeat(number) }
            if connectedTo == nil { connect(to: Int(random.next() % 3)) }
            read()
            takeAcknowledgement()
            let session = connectedTo.flatMap { nodes[$0].session }
            guard unanswered.isEmpty, session?.toDevice.isEmpty == true, session?.toServer.isEmpty == true else {
                continue
            }
            if database.entries.isEmpty, database.tombstones.isEmpty, database.recalls.isEmpty { break }
        }
        if rounds == 600 { fault("the device does not come to rest") }
        check()
    }

    private mutating func check() {
        if !database.entries.isEmpty { fault("\(database.entries.map(\.id)) still wait") }
        if !database.tombstones.isEmpty || !database.recalls.isEmpty { fault("the device was not told everything") }
        let seen = Set(shown)
        if seen.count != shown.count { fault("something was shown twice") }
        for (name, id) in answered {
            guard database.identities[name] == id else {
                fault("request \(name) was answered and is not stored")
                continue
            }
            guard let end = database.ends[id] else {
                fault("\(id) has no end")
                continue
            }
            if end == .acked, !seen.contains(id) { fault("\(id) is lost") }
        }
        if Set(database.identities.values).count != database.identities.count { fault("two requests are one") }
        if !visible.isDisjoint(with: recalled) { fault("what was withdrawn is still seen") }
    }
}
