import Foundation
import RelayProtocol
import Testing

@Suite struct QueuedMessageFlowTests {
    private static let account: RelayDirectory.AccountID = [1]
    private let here = RelaySession(device: "2", epoch: 1)

    private static func queuedMessage(_ number: Int64, size: Int = 1) -> StoredMessage {
        var queuedMessage = StoredMessage(
            account: account, device: "2", key: QueuedMessageKey(sender: "1", id: UUID()), deadline: 9_000,
            body: [UInt8](repeating: 1, count: size))
        queuedMessage.number = number
        return queuedMessage
    }

    private func writes(_ steps: [QueuedMessageFlow.Step]) -> [Int64] {
        steps.compactMap { if case .write(let queuedMessage, _) = $0 { queuedMessage.number } else { nil } }
    }

    private func reads(_ steps: [QueuedMessageFlow.Step]) -> [Int64] {
        steps.compactMap { if case .read(_, _, let number, _, _) = $0 { number } else { nil } }
    }

    @Test("A device that comes is given what is kept one by one, in order, and what is kept later after it")
    func order() {
        var flow = QueuedMessageFlow()
        #expect(reads(flow.begin(here, Self.account)) == [0])
        #expect(flow.begin(here, Self.account).isEmpty)
        let queuedMessages = (1...3).map { Self.queuedMessage($0) }
        #expect(writes(flow.read(queuedMessages, isAll: true, for: here)) == [1])
        // While one is being written the next waits; so does what is kept meanwhile.
        #expect(reads(flow.kept(for: "2")) == [3])
        #expect(writes(flow.read([Self.queuedMessage(4)], isAll: true, for: here)).isEmpty)
        #expect(writes(flow.written(true, to: here)) == [2])
        #expect(flow.written(false, to: here).isEmpty)
        #expect(writes(flow.retryWrites(for: here)) == [2])
        #expect(writes(flow.written(true, to: here)) == [3])
        #expect(writes(flow.written(true, to: here)) == [4])
        #expect(flow.isUnderWay(queuedMessages[0].key, to: "2"))
        #expect(flow.removeMessage(queuedMessages[0].key, for: "2").isEmpty)
        #expect(!flow.isUnderWay(queuedMessages[0].key, to: "2"))
    }

    @Test("A message that ended while it waited for those before it is not given")
    func endedWhileReady() {
        var flow = QueuedMessageFlow()
        _ = flow.begin(here, Self.account)
        let queuedMessages = (1...4).map { Self.queuedMessage($0) }
        #expect(writes(flow.read(queuedMessages, isAll: true, for: here)) == [1])
        #expect(flow.removeMessage(queuedMessages[1].key, for: "2").isEmpty)
        #expect(flow.removeMessage(queuedMessages[3].key, for: "3").isEmpty)
        #expect(writes(flow.written(true, to: here)) == [3])
        #expect(writes(flow.written(true, to: here)) == [4])
    }

    @Test("What is kept while the store is being read is looked for after it")
    func newsWhileReading() {
        var flow = QueuedMessageFlow()
        _ = flow.begin(here, Self.account)
        #expect(flow.kept(for: "2").isEmpty)
        #expect(reads(flow.read([], isAll: true, for: here)) == [0])
        #expect(reads(flow.read([], isAll: true, for: here)).isEmpty)
    }

    @Test("No more is read while a device does not take what it has, by number and by bytes", arguments: [1, 1 << 19])
    func window(size: Int) {
        var flow = QueuedMessageFlow()
        _ = flow.begin(here, Self.account)
        let queuedMessages = (1...(size == 1 ? QueuedMessageFlow.countLimit : 2)).map {
            Self.queuedMessage(Int64($0), size: size)
        }
        var steps = flow.read(queuedMessages, isAll: false, for: here)
        for _ in queuedMessages { steps += flow.written(true, to: here) }
        #expect(writes(steps).count == queuedMessages.count)
        #expect(reads(steps).isEmpty)
        var read: [Int64] = []
        for queuedMessage in queuedMessages where read.isEmpty {
            read = reads(flow.removeMessage(queuedMessage.key, for: "2"))
        }
        #expect(read == [queuedMessages.last?.number])
    }

    @Test("A session that is over is given nothing more; the next one begins anew")
    func sessions() {
        var flow = QueuedMessageFlow()
        _ = flow.begin(here, Self.account)
        flow.end(here)
        #expect(flow.read([Self.queuedMessage(1)], isAll: true, for: here).isEmpty)
        #expect(flow.kept(for: "2").isEmpty)
        let next = RelaySession(device: "2", epoch: 2)
        #expect(reads(flow.begin(next, Self.account)) == [0])
        flow.end(here)
        #expect(writes(flow.read([Self.queuedMessage(1)], isAll: true, for: next)) == [1])
    }

    @Test("What was taken is remembered until ten minutes after its deadline, and no more of it than the limit")
    func taken() {
        var taken = ReceivedMessageLog()
        let first = QueuedMessageKey(sender: "1", id: UUID())
        taken.add(ReceivedMessage(key: first, until: 100, status: .denied), at: 50)
        #expect(taken[first] == .denied)
        #expect(taken[QueuedMessageKey(sender: "2", id: first.id)] == nil)
        taken.add(
            ReceivedMessage(key: QueuedMessageKey(sender: "1", id: UUID()), until: 200, status: .success), at: 101)
        #expect(taken[first] == nil)
        for _ in 0..<ReceivedMessageLog.limit + 10 {
            taken.add(
                ReceivedMessage(key: QueuedMessageKey(sender: "1", id: UUID()), until: 200, status: .success), at: 101)
        }
        #expect(taken.count == ReceivedMessageLog.limit)
        #expect(taken.all(at: 201).isEmpty)
    }

    @Test("A queued message is sent once the server keeps it, and has its end by its device's word or the server's")
    func ledger() throws {
        var ledger = CommandLedger()
        let id = UUID()
        var command = CommandLedger.Command(client: 1, request: 1, device: "2", deadline: 30)
        command.isQueuedMessage = true
        #expect(ledger.begin(id, command) == nil)
        #expect(ledger.queuedMessageEnded(id, .success) == nil)
        #expect(ledger.kept(id, until: 1000, at: 5) != nil)
        #expect(ledger.count == 0)
        #expect(ledger.life(of: id, at: 10)?.life == .sent)
        #expect(ledger.keptQueuedMessage(id) != nil)
        ledger.executing(id, on: "3")
        #expect(ledger.life(of: id, at: 10)?.life == .sent)
        ledger.executing(id, on: "2")
        #expect(ledger.life(of: id, at: 10)?.life == .executing)
        #expect(ledger.queuedMessageEnded(id, .success, from: "3") == nil)
        #expect(ledger.queuedMessageEnded(id, .denied, from: "2")?.status == .denied)
        #expect(ledger.life(of: id, at: 10)?.life == .failed)
        #expect(ledger.queuedMessageEnded(id, .expired) == nil)
        ledger.executing(id, on: "2")
        #expect(ledger.life(of: id, at: 10)?.life == .failed)
        let silent = UUID()
        _ = ledger.begin(silent, command)
        _ = ledger.kept(silent, until: 1000, at: 5)
        #expect(ledger.life(of: silent, at: 1001)?.life == .sent)
        #expect(ledger.life(of: silent, at: 100_000)?.status == .outcomeUnknown)
    }

    @Test("A queued message goes to a device of the account alone, also to one that is away, which is woken")
    func posting() {
        var directory = RelayDirectory()
        directory.canWake = true
        let (one, two) = (RelaySession(device: "1", epoch: 1), RelaySession(device: "2", epoch: 1))
        let channel = RelayWakeChannel(service: .apns, token: "aa")
        func queuedMessage(_ device: String, _ deadline: Int64 = 100) -> QueuedMessage {
            QueuedMessage(peer: device, id: UUID(), deadline: deadline, body: [1])
        }
        #expect(directory.posting(queuedMessage("2"), from: one, at: 0) == .refuse(.notJoined))
        _ = directory.hello(one, account: [1], RelayDevice(id: "", name: "a", kind: "phone"), at: 0)
        #expect(directory.posting(queuedMessage("2"), from: one, at: 0) == .refuse(.unknownDevice))
        #expect(directory.posting(queuedMessage("1"), from: one, at: 0) == .refuse(.unknownDevice))
        _ = directory.hello(two, account: [1], RelayDevice(id: "", name: "b", kind: "phone"), wake: channel, at: 0)
        #expect(directory.wake("2", of: [1], until: 100, at: 0) == nil)
        _ = directory.closed(two, at: 1)
        #expect(directory.posting(queuedMessage("2"), from: one, at: 1) == .keep([1]))
        #expect(directory.posting(queuedMessage("2", 1), from: one, at: 1) == .refuse(.expired))
        #expect(directory.posting(queuedMessage("2", 29 * 86_400_000), from: one, at: 1) == .refuse(.notKept))
        let push = RelayPush(device: "2", account: [1], channel: channel, until: 100)
        #expect(directory.wake("2", of: [1], until: 100, at: 1) == push)
        #expect(directory.wake("2", of: [1], until: 100, at: 2) == nil)
        #expect(directory.wake("2", of: [1], until: 100, at: 2_001) == push)
        _ = directory.hello(
            RelaySession(device: "3", epoch: 1), account: [3], RelayDevice(id: "", name: "c", kind: "phone"), at: 0)
        #expect(directory.posting(queuedMessage("3"), from: one, at: 0) == .refuse(.unknownDevice))
    }
}
