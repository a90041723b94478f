import AldabaTestSupport
import DeviceChannel
import PushCore
import Testing

/// A server's mailbox, a device's store, and connections between them that are cut at random.
private struct Simulation {
    var random: SeededGenerator
    var now: Int64 = 0

    // What lasts.
    var nextID: Int64 = 0
    /// Everything that was ever accepted to be stored, in order.
    var everAccepted: [NotificationID] = []
    /// What was to be delivered at once or never.
    var attempts: Set<NotificationID> = []
    /// Those of them that the server knows were not.
    var notSent: [NotificationID] = []
    var mailbox: [OutgoingNotification] = []
    var stored: [NotificationID] = []
    var unconfirmed: Set<NotificationID> = []
    var outbox: [String] = []
    var recorded: [String] = []
    var nextReceipt = 0
    /// What the server did not take, and what the device knows of that.
    var refused: Set<String> = []
    var refusalsHeard: Set<String> = []

    // What a connection has.
    var server: MCSServerSession?
    var client: MCSClientSession?
    var flow = DeliveryFlow(capacity: 0)
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    var serverDecoder = MCSFrameDecoder()
    var clientDecoder = MCSFrameDecoder()
    var toRecord: [Int32] = []
    var toRefuse: [(stream: Int32, name: String)] = []
    /// Acknowledgements that the server has not made durable yet; a cut loses them.
    var toDelete: [(stream: Int32, ids: [NotificationID])] = []
    var toStore: [[OutgoingNotification]] = []
    var inOutbox: Set<String> = []
    var isPaging: (after: NotificationID?, limit: Int)?
    /// What was committed and has not reached the connection's own thread yet.
    var toDeliver: [OutgoingNotification] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func connect() {
        (toServer, toClient, toRecord, toStore, inOutbox, isPaging) = ([], [], [], [], [], nil)
        (toDelete, toDeliver, toRefuse) = ([], [], [])
        (serverDecoder, clientDecoder) = (MCSFrameDecoder(), MCSFrameDecoder())
        var configuration = MCSServerConfiguration()
        configuration.windowLimit = Int.random(in: 2...40, using: &random)
        server = MCSServerSession(configuration: configuration, at: at(now))
        flow = DeliveryFlow(capacity: configuration.windowLimit)
        client = MCSClientSession(at: at(now))
        let credentials = MCSCredentials(device: DeviceID(1)!, secret: 1, received: Array(unconfirmed))
        perform(client?.start(credentials) ?? [])
    }

    mutating func cut() {
        server = nil
        client = nil
    }

    mutating func perform(_ directives: [MCSServerDirective]) {
        for directive in directives {
            switch directive {
            case .sendVersion(let version): toClient.append(version)
            case .send(let packet): try? packet.encode(into: &toClient)
            case .deliver(let notification, let lastStreamID, let now):
                try? notification.encodePacket(into: &toClient, lastStreamID: lastStreamID, now: now)
            case .attemptsAcknowledged: perform(flow.capacityChanged(server?.capacity ?? 0))
            case .authenticate(let login):
                mailbox.removeAll { login.received.contains($0.id) }
                perform(server?.loginAnswered(.welcome, at: at(now)) ?? [])
            case .began: perform(flow.start())
            case .acknowledged(let stream, let ids):
                toDelete.append((stream, ids))
                perform(flow.capacityChanged(server?.capacity ?? 0))
            case .upstream(let stream, let message):
                if message.category == MCSUpstream.receiptsCategory {
                    let reading = MCSReceiptReading(batch: message.raw)
                    recorded += (reading?.receipts ?? []).map { String($0.id.rawValue) }
                    toRecord.append(stream)
                } else {
                    toRefuse.append((stream, message.persistentID))
                }
            case .close(let reason): Issue.record("the server closed: \(reason)")
            }
        }
    }

    mutating func perform(_ directives: [DeliveryFlow.Directive]) {
        for directive in directives {
            switch directive {
            case .page(let after, let limit): isPaging = (after, limit)
            case .write(let notifications): perform(server?.send(notifications, at: at(now)) ?? [])
            case .notSent(let ids): notSent += ids
            case .fail: Issue.record("the flow failed")
            }
        }
    }

    mutating func perform(_ directives: [MCSClientDirective]) {
        for directive in directives {
            switch directive {
            case .sendVersion(let version): toServer.append(version)
            case .send(let packet): try? packet.encode(into: &toServer)
            case .loggedIn: break
            case .store(let notifications): toStore.append(notifications)
            case .relayed: Issue.record("something was relayed")
            case .passedOver(let id, let reason): Issue.record("passed over \(id): \(reason)")
            case .confirmed(let ids):
                for id in ids where mailbox.contains(where: { $0.id == id }) {
                    Issue.record("\(id) was confirmed but still waits")
                }
                unconfirmed.subtract(ids)
            case .upstreamRefused(let name, _): refusalsHeard.insert(name)
            case .upstreamConfirmed(let names):
                for name in names where !recorded.contains(name) && !refused.contains(name) {
                    Issue.record("\(name) confirmed, neither recorded nor refused")
                }
                outbox.removeAll { names.contains($0) }
            case .close(let reason): Issue.record("the device closed: \(reason)")
            }
        }
    }

    mutating func moveToServer() {
        let count = Int.random(in: 0...toServer.count, using: &random)
        serverDecoder.append(toServer.prefix(count))
        toServer.removeFirst(count)
        while let element = try? serverDecoder.next() {
            switch element {
            case .version(let version): perform(server?.received(version: version) ?? [])
            case .packet(let packet): perform(server?.received(packet, at: at(now)) ?? [])
            }
        }
        perform(server?.readCompleted() ?? [])
    }

    mutating func moveToClient() {
        let count = Int.random(in: 0...toClient.count, using: &random)
        clientDecoder.append(toClient.prefix(count))
        toClient.removeFirst(count)
        while let element = try? clientDecoder.next() {
            switch element {
            case .version(let version): perform(client?.received(version: version) ?? [])
            case .packet(let packet): perform(client?.received(packet, at: at(now)) ?? [])
            }
        }
        perform(client?.readCompleted() ?? [])
    }

    mutating func accept() {
        nextID += Int64.random(in: 1...3, using: &random)
        let accepted = notification(nextID)
        everAccepted.append(accepted.id)
        mailbox.append(accepted)
        if server?.isLive ?? false { toDeliver.append(accepted) }
    }

    /// Some that are not stored, for a device that is connected.
    mutating func attempt() {
        guard server?.isLive ?? false else { return }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            nextID += 1
            let attempt = notification(nextID, stored: false)
            attempts.insert(attempt.id)
            toDeliver.append(attempt)
        }
    }

    mutating func deliver() {
        let some = toDeliver.prefix(Int.random(in: 0...toDeliver.count, using: &random))
        toDeliver.removeFirst(some.count)
        if some.count == 1, let one = some.first, flow.takesAtOnce(one) {
            guard let lastStreamID = server?.count(one) else {
                Issue.record("a live session counts nothing")
                return
            }
            try? one.encodePacket(into: &toClient, lastStreamID: lastStreamID, now: at(now).wall)
        } else if !some.isEmpty {
            perform(flow.deliver(Array(some)))
        }
    }

    /// The device is away, and more may come than one page or window takes.
    mutating func stayAway() {
        guard Int.random(in: 0..<4, using: &random) == 0 else { return }
        for _ in 0..<Int.random(in: 0..<120, using: &random) { accept() }
    }

    mutating func readPage() {
        guard let (after, limit) = isPaging else { return }
        isPaging = nil
        let page = mailbox.filter { $0.id.rawValue > (after?.rawValue ?? 0) }.prefix(limit)
        perform(flow.pageRead(Array(page)))
    }

    /// The device's transaction: message and id together, what it has is dropped. It may end before the acknowledgement.
    mutating func store(mayCut: Bool = true) {
        guard !toStore.isEmpty else { return }
        let notifications = toStore.removeFirst()
        for notification in notifications where !unconfirmed.contains(notification.id) {
            if stored.contains(notification.id) { Issue.record("\(notification.id) was delivered twice") }
            stored.append(notification.id)
            unconfirmed.insert(notification.id)
        }
        if mayCut, Int.random(in: 0..<8, using: &random) == 0 {
            cut()
        } else {
            perform(client?.acknowledge(notifications.map(\.id)) ?? [])
        }
    }

    mutating func report() {
        if outbox.count < 20 {
            nextReceipt += 1
            outbox.append("\(nextReceipt)")
        }
        sendReport()
    }

    mutating func sendReport() {
        guard let name = outbox.first(where: { !inOutbox.contains($0) }),
            case .dataMessage(let stanza) = Self.isUnserved(name)
                ? upstream(name, category: "nobody") : receipts(name, of: Int64(name) ?? 0),
            let directives = client?.send(stanza)
        else { return }
        inOutbox.insert(name)
        perform(directives)
    }

    /// Every fifth is of a category that nobody takes.
    static func isUnserved(_ name: String) -> Bool { (Int64(name) ?? 0) % 5 == 0 }

    mutating func refuseOne() {
        guard let (stream, name) = toRefuse.randomElement(using: &random) else { return }
        toRefuse.removeAll { $0.stream == stream }
        refused.insert(name)
        perform(
            server?.refused(stream: stream, persistentID: name, UpstreamRejection(code: 404, reason: "nobody")) ?? [])
    }

    mutating func recordOne() {
        guard let stream = toRecord.randomElement(using: &random) else { return }
        toRecord.removeAll { $0 == stream }
        perform(server?.recorded(stream: stream, durable: true, at: at(now)) ?? [])
    }

    mutating func deleteOne() {
        guard !toDelete.isEmpty else { return }
        let (stream, ids) = toDelete.removeFirst()
        mailbox.removeAll { ids.contains($0.id) }
        perform(server?.recorded(stream: stream, durable: true, at: at(now)) ?? [])
    }

    mutating func tick() {
        now += Int64.random(in: 0...400, using: &random)
        if let deadline = server?.deadline, deadline <= now { perform(server?.tick(at: at(now)) ?? []) }
        if let deadline = client?.deadline, deadline <= now { perform(client?.tick(at: at(now)) ?? []) }
    }

    mutating func step() {
        guard client != nil else {
            stayAway()
            return connect()
        }
        deliver()
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: moveToServer()
        case 25..<50: moveToClient()
        case 50..<58: accept()
        case 58..<62: attempt()
        case 62..<72: readPage()
        case 72..<84: store()
        case 84..<89: report()
        case 89..<91:
            recordOne()
            refuseOne()
        case 91..<93: deleteOne()
        case 93..<95: perform(flow.writabilityChanged(false))
        case 95..<97: perform(flow.writabilityChanged(true))
        case 97..<99: tick()
        default: cut()
        }
    }

    /// Lets everything arrive on the connection that there is, without faults; one that ended is made again before.
    mutating func settle() {
        if client == nil { connect() }
        perform(flow.writabilityChanged(true))
        for _ in 0..<4000 {
            deliver()
            moveToServer()
            moveToClient()
            readPage()
            store(mayCut: false)
            recordOne()
            refuseOne()
            deleteOne()
            sendReport()
            now += 50
            tick()
            if mailbox.isEmpty, unconfirmed.isEmpty, toStore.isEmpty, toDeliver.isEmpty, outbox.isEmpty {
                return
            }
        }
    }

    /// Holds whenever everything has arrived.
    func checkNothingIsLost(_ when: String) {
        let kept = stored.filter { !attempts.contains($0) }
        #expect(kept == everAccepted, "\(when): what is stored is what was accepted, each once and in order")
        #expect(Set(stored).count == stored.count, "\(when): an attempt comes once at most")
        #expect(Set(stored).isDisjoint(with: notSent), "\(when): what was not sent did not come")
        #expect(mailbox.isEmpty && unconfirmed.isEmpty, "\(when): both sides know")
        let names = (0..<nextReceipt).map { "\($0 + 1)" }
        #expect(Set(recorded) == Set(names.filter { !Self.isUnserved($0) }), "\(when): every receipt is recorded")
        #expect(refused == Set(names.filter(Self.isUnserved)), "\(when): what nobody takes is refused")
        #expect(refusalsHeard == refused, "\(when): and the device knows why")
        #expect(outbox.isEmpty, "\(when): the device knows that")
    }
}

@Suite struct SessionSimulationTests {
    @Test(arguments: UInt64(1)...100)
    func `through cuts at any byte nothing is lost, nothing counts twice and the order is kept`(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        for _ in 0..<15 {
            for _ in 0..<100 { simulation.step() }
            // On the connection that there is: a new one would read anew what this one has forgotten.
            simulation.settle()
            simulation.checkNothingIsLost("without faults")
        }
        for _ in 0..<100 { simulation.step() }
        simulation.cut()
        simulation.settle()
        simulation.checkNothingIsLost("on a last connection")
        #expect(!simulation.stored.isEmpty)
    }
}
