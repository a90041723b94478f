import AldabaTestSupport
import Crypto
import Foundation
import Logging
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import Synchronization
import Testing

/// The centre with a store that the test answers for.
@Suite struct DocumentCentreTests {
    private final class Connection: DeviceConnection {
        let frames = Mutex<[RelayFrame]>([])

        func deliver(_ notifications: [OutgoingNotification]) {}
        func waitingChanged() {}
        func superseded() {}
        func revoked() {}
        func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
            if let read = try? RelayFrame(frame) { frames.withLock { $0.append(read) } }
            complete(.written)
        }

        /// What came about documents since this was asked last.
        var told: [RelayFrame] {
            frames.withLock { all in
                defer { all = [] }
                return all.filter {
                    switch $0 {
                    case .documentAnswer, .documentsChanged: true
                    default: false
                    }
                }
            }
        }
    }

    /// What the centre asks; the test answers when it wants to.
    private final class Store: DocumentStore {
        struct Asked: Sendable {
            var ask: RelayDocumentRequest
            var account: [UInt8]
            var complete: @Sendable (RelayDocumentAnswer) -> Void
        }

        let asked = Mutex<[Asked]>([])
        let forgotten = Mutex<[[UInt8]]>([])
        let canForget = Mutex(true)
        let seen = Mutex<[[UInt8]]>([])
        /// What each sweep tells.
        let unseen = Mutex<[[[UInt8]]?]>([])

        func perform(
            _ ask: RelayDocumentRequest, of account: [UInt8], at now: Timestamp,
            then complete: @escaping @Sendable (RelayDocumentAnswer) -> Void
        ) { asked.withLock { $0.append(Asked(ask: ask, account: account, complete: complete)) } }

        func seen(_ account: [UInt8], at now: Timestamp) { seen.withLock { $0.append(account) } }

        func sweep(at now: Timestamp, then complete: @escaping @Sendable ([[UInt8]]?, Bool) -> Void) {
            complete(unseen.withLock { $0.isEmpty ? [] : $0.removeFirst() }, true)
        }

        func forget(_ account: [UInt8], at now: Timestamp, then complete: @escaping @Sendable (Bool?) -> Void) {
            forgotten.withLock { $0.append(account) }
            complete(canForget.withLock { $0 ? true : nil })
        }

        func answer(_ answer: RelayDocumentAnswer) {
            asked.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.complete(answer)
        }
    }

    private let store = Store()
    private let id = UUID()
    private let put = RelayDocumentRequest.put(
        RelaySealedDocument(key: [UInt8](repeating: 1, count: 32), revision: 1, body: [2]), over: 0)

    private func centre(with documents: (any DocumentStore)?, alarms: Alarms = Alarms()) -> RelayBroker {
        RelayBroker(
            register: RelayCentreTests.Register(), documents: documents, clock: { Timestamp(rawValue: 1000) },
            schedule: { delay, work in alarms.set.withLock { $0.append((delay, work)) } },
            logger: Logger(label: "test"))
    }

    private func session(_ number: UInt64) throws -> DeviceSessionID {
        DeviceSessionID(device: try #require(DeviceID(number)), epoch: 1)
    }

    private func say(_ frame: RelayFrame, as number: UInt64, to centre: RelayBroker) throws {
        let message = UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: try frame.encoded())
        centre.receive(message, of: try session(number)) { _ in }
    }

    private func token(_ account: UInt8) -> [UInt8] { [UInt8](repeating: account, count: 32) }
    private func name(_ account: UInt8) -> [UInt8] { Array(SHA256.hash(data: token(account))) }

    private func join(_ number: UInt64, account: UInt8?, _ centre: RelayBroker) throws -> Connection {
        let connection = Connection()
        centre.opened(try session(number), connection)
        if let account {
            let device = RelayDevice(id: "", name: "n\(number)", kind: "desktop")
            try say(.hello(token: token(account), device), as: number, to: centre)
        }
        return connection
    }

    @Test(
        "A put is the account's, is answered to who asked, and all of the account's devices there hear that something changed"
    )
    func telling() throws {
        let centre = centre(with: store)
        let (one, two) = (try join(1, account: 1, centre), try join(2, account: 1, centre))
        let stranger = try join(3, account: 9, centre)
        try say(.documentRequest(id: id, put), as: 1, to: centre)
        #expect(store.asked.withLock { $0.map(\.account) } == [name(1)])
        #expect(one.told.isEmpty)
        store.answer(.kept(revision: 1))
        #expect(one.told == [.documentAnswer(id: id, .kept(revision: 1)), .documentsChanged])
        #expect(two.told == [.documentsChanged] && stranger.told.isEmpty)
    }

    @Test(
        "What changed nothing is told to nobody else",
        arguments: [
            RelayDocumentAnswer.conflict(present: 3, isRemoved: false), .refused(.full), .refused(.notKept),
            .documents([], isAll: true, last: 0),
        ])
    func nothingChanged(_ answer: RelayDocumentAnswer) throws {
        let centre = centre(with: store)
        let (one, two) = (try join(1, account: 1, centre), try join(2, account: 1, centre))
        try say(.documentRequest(id: id, put), as: 1, to: centre)
        store.answer(answer)
        #expect(one.told == [.documentAnswer(id: id, answer)] && two.told.isEmpty)
    }

    @Test("Who has said no hello reaches no documents, and without a store nobody does")
    func refusals() throws {
        let centre = centre(with: store)
        let silent = try join(1, account: nil, centre)
        try say(.documentRequest(id: id, put), as: 1, to: centre)
        #expect(silent.told == [.documentAnswer(id: id, .refused(.notJoined))])
        let bare = self.centre(with: nil)
        let one = try join(1, account: 1, bare)
        try say(.documentRequest(id: id, put), as: 1, to: bare)
        #expect(one.told == [.documentAnswer(id: id, .refused(.notKept))])
        #expect(store.asked.withLock { $0.isEmpty })
    }

    @Test("With the token of another account a device lists that one's documents, and puts its own still")
    func formerAccount() throws {
        let centre = centre(with: store)
        _ = try join(1, account: 1, centre)
        for ask in [RelayDocumentRequest.list(after: 0, token: token(9)), .list(after: 0), put] {
            try say(.documentRequest(id: id, ask), as: 1, to: centre)
        }
        #expect(store.asked.withLock { $0.map(\.account) } == [name(9), name(1), name(1)])
    }

    @Test("One device asks sixteen things at a time; its answers make room, and others have room of their own")
    func busy() throws {
        let centre = centre(with: store)
        let (one, two) = (try join(1, account: 1, centre), try join(2, account: 1, centre))
        let get = RelayFrame.documentRequest(id: id, .get(key: [UInt8](repeating: 1, count: 32)))
        for _ in 0..<16 { try say(get, as: 1, to: centre) }
        #expect(one.told.isEmpty)
        try say(get, as: 1, to: centre)
        #expect(one.told == [.documentAnswer(id: id, .refused(.busy))])
        try say(get, as: 2, to: centre)
        #expect(two.told.isEmpty && store.asked.withLock { $0.count } == 17)
        store.answer(.documents([], isAll: true, last: 0))
        _ = one.told
        try say(get, as: 1, to: centre)
        #expect(one.told.isEmpty && store.asked.withLock { $0.count } == 17)
    }

    @Test("An answer to a session that is over goes nowhere, and the account's devices hear of the change all the same")
    func leaving() throws {
        let centre = centre(with: store)
        let (one, two) = (try join(1, account: 1, centre), try join(2, account: 1, centre))
        try say(.documentRequest(id: id, put), as: 1, to: centre)
        centre.closed(try session(1))
        store.answer(.kept(revision: 1))
        #expect(one.told.isEmpty && two.told == [.documentsChanged])
    }

    @Test("Documents of an account whose devices stay away are deleted; of one that has a device there they are not")
    func sweeping() throws {
        let alarms = Alarms()
        let centre = centre(with: store, alarms: alarms)
        _ = try join(1, account: 1, centre)
        store.seen.withLock { $0 = [] }
        store.unseen.withLock { $0 = [[name(1), name(9)], nil, []] }
        alarms.ring()
        #expect(store.forgotten.withLock { $0 } == [name(9)] && store.seen.withLock { $0 } == [name(1)])
        // There may be more: it looks again soon, and rests once nothing could be read, or nothing is left.
        #expect(alarms.set.withLock { $0.map(\.0) } == [50])
        alarms.ring()
        #expect(alarms.set.withLock { $0.map(\.0) } == [3_600_000])
        alarms.ring()
        #expect(alarms.set.withLock { $0.map(\.0) } == [3_600_000])
        #expect(store.forgotten.withLock { $0.count } == 1)
    }

    @Test("What could not be deleted is tried again an hour later, not at once")
    func failingSweep() {
        let alarms = Alarms()
        let centre = centre(with: store, alarms: alarms)
        store.canForget.withLock { $0 = false }
        store.unseen.withLock { $0 = [[name(9)]] }
        alarms.ring()
        #expect(store.forgotten.withLock { $0 } == [name(9)])
        #expect(alarms.set.withLock { $0.map(\.0) } == [3_600_000])
        withExtendedLifetime(centre) {}
    }

    private final class Alarms: Sendable {
        let set = Mutex<[(Int64, @Sendable () -> Void)]>([])

        func ring() {
            for (_, work) in set.withLock({ all in
                defer { all = [] }
                return all
            }) { work() }
        }
    }
}
