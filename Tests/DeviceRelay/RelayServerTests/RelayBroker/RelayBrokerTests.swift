import Foundation
import Logging
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import Synchronization
import Testing

@Suite struct RelayCentreTests {
    final class Connection: DeviceConnection {
        let frames = Mutex<[RelayFrame]>([])
        /// Whether the session is over without anybody having told so yet.
        let isEnded = Atomic(false)
        /// How many frames were to be written.
        let tries = Atomic(0)
        private let choke: Mutex<Bool>
        var isChoked: Bool {
            get { choke.withLock { $0 } }
            set { choke.withLock { $0 = newValue } }
        }

        init(isChoked: Bool = false) { choke = Mutex(isChoked) }

        func deliver(_ notifications: [OutgoingNotification]) {}
        func waitingChanged() {}
        func superseded() {}
        func revoked() {}
        func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
            if isEnded.load(ordering: .relaxed) { return complete(.ended) }
            tries.add(1, ordering: .relaxed)
            if !isChoked, let read = try? RelayFrame(frame) { frames.withLock { $0.append(read) } }
            complete(isChoked ? .choked : .written)
        }
    }

    final class Register: RelayRegister {
        let devices = Mutex<[String: (StoredDevice, [UInt8])]>([:])

        func devices(of account: [UInt8]) -> [StoredDevice] {
            devices.withLock { $0.values.filter { $0.1 == account }.map(\.0) }
        }
        func save(_ device: StoredDevice, of account: [UInt8]) {
            devices.withLock { $0[device.device.id] = (device, account) }
        }
        func delete(_ device: String) { devices.withLock { $0[device] = nil } }
    }

    final class Alarms: Sendable {
        let set = Mutex<[(Int64, @Sendable () -> Void)]>([])
        let now = Mutex<Int64>(1000)
    }

    let alarms = Alarms()
    let centre: RelayBroker

    init() {
        centre = RelayBroker(
            register: Register(),
            clock: { [alarms] in Timestamp(rawValue: alarms.now.withLock { $0 }) },
            schedule: { [alarms] delay, work in alarms.set.withLock { $0.append((delay, work)) } },
            logger: Logger(label: "test"))
    }

    func session(_ number: UInt64) throws -> DeviceSessionID {
        DeviceSessionID(device: try #require(DeviceID(number)), epoch: 1)
    }

    func say(_ frame: RelayFrame, as number: UInt64) throws -> UpstreamOutcome? {
        let outcome = Mutex<UpstreamOutcome?>(nil)
        let message = UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: try frame.encoded())
        centre.receive(message, of: try session(number)) { result in outcome.withLock { $0 = result } }
        return outcome.withLock { $0 }
    }

    func join(
        _ number: UInt64, account: UInt8 = 1, choked: Bool = false, wake: RelayWakeChannel? = nil,
        known: DirectoryRevision? = nil
    ) throws -> Connection {
        let connection = Connection(isChoked: choked)
        centre.opened(try session(number), connection)
        let device = RelayDevice(id: "", name: "n\(number)", kind: "desktop")
        let token = [UInt8](repeating: account, count: 32)
        let outcome = try say(.hello(token: token, device, wake: wake, known: known), as: number)
        #expect(outcome == .durable())
        return connection
    }

    @Test("What one device says is written to the other of the same account, in order")
    func forwarding() throws {
        _ = try join(1)
        let other = try join(2)
        let stranger = try join(3, account: 9)
        let ids = (0..<3).map { _ in UUID() }
        for id in ids { _ = try say(.route(RelayRoute(peer: "2", id: id, deadline: nil, body: [7])), as: 1) }
        let arrived = other.frames.withLock { $0 }.compactMap { frame -> RelayRoute? in
            if case .route(let route) = frame { route } else { nil }
        }
        #expect(arrived.map(\.id) == ids)
        #expect(arrived.allSatisfy { $0.peer == "1" && $0.body == [7] })
        #expect(stranger.frames.withLock { $0 }.count == 1)
    }

    @Test("However much changes in however many accounts, one timer counts at a time")
    func timers() throws {
        for number in 1...4 as ClosedRange<UInt64> { _ = try join(number, account: UInt8(number % 2)) }
        var most = 0
        var pending: [(at: Int64, work: @Sendable () -> Void)] = []
        for step in 1...60 {
            alarms.now.withLock { $0 += 25 }
            let now = alarms.now.withLock { $0 }
            for number in 1...2 as ClosedRange<UInt64> {
                let device = RelayDevice(id: "", name: "n\(number) \(step)", kind: "desktop")
                let token = [UInt8](repeating: UInt8(number % 2), count: 32)
                _ = try say(.hello(token: token, device), as: number)
            }
            let due = pending.filter { $0.at <= now }
            pending.removeAll { $0.at <= now }
            for alarm in due { alarm.work() }
            pending += alarms.set.withLock { set in
                defer { set = [] }
                return set.map { (now + $0.0, $0.1) }
            }
            most = max(most, pending.count)
        }
        // One for changes, and those that were set for later before.
        #expect(most <= 4)
    }

    @Test("A device hears of one that has just come before it hears what that says")
    func newcomers() throws {
        let first = try join(1, known: DirectoryRevision())
        _ = try join(2)
        _ = try join(3)
        #expect(first.frames.withLock { $0.count } == 2)
        _ = try say(.route(RelayRoute(peer: "1", id: UUID(), deadline: nil, body: [7])), as: 3)
        let last = first.frames.withLock { $0.suffix(2) }
        guard case .changes(let changes)? = last.first, case .route? = last.last else {
            Issue.record("it hears \(last)")
            return
        }
        #expect(changes.devices.map(\.id) == ["3"])
    }

    @Test("What cannot be written is told to its sender")
    func overload() throws {
        let sender = try join(1)
        _ = try join(2, choked: true)
        let id = UUID()
        _ = try say(.route(RelayRoute(peer: "2", id: id, deadline: nil, body: [])), as: 1)
        #expect(sender.frames.withLock { $0.last } == .undelivered(id: id, .overloaded))
    }

    @Test("A device whose session ends while something is written to it is not there; it is not too busy")
    func endedWhileWritten() throws {
        let sender = try join(1)
        let other = try join(2)
        other.isEnded.store(true, ordering: .relaxed)
        let id = UUID()
        _ = try say(.route(RelayRoute(peer: "2", id: id, deadline: nil, body: [])), as: 1)
        #expect(sender.frames.withLock { $0.last } == .undelivered(id: id, .unavailable))
    }

    @Test("Changes that a device does not take are dropped, however many; it is told all once it takes something again")
    func slowWatchers() throws {
        let slow = try join(1, known: DirectoryRevision())
        _ = try join(2)
        slow.isChoked = true
        let tries = slow.tries.load(ordering: .relaxed)
        for number in 0..<1000 {
            alarms.now.withLock { $0 += 200 }
            let device = RelayDevice(id: "", name: "n\(number)", kind: "desktop")
            _ = try say(.hello(token: [UInt8](repeating: 1, count: 32), device), as: 2)
        }
        #expect(slow.tries.load(ordering: .relaxed) == tries + 1)
        ring()
        #expect(slow.tries.load(ordering: .relaxed) == tries + 2)
        slow.isChoked = false
        slow.frames.withLock { $0 = [] }
        ring()
        guard case .changes(let changes)? = slow.frames.withLock({ $0.last }) else {
            Issue.record("it is not told all")
            return
        }
        #expect(changes.since == nil && changes.devices.map(\.name) == ["n1", "n999"])
        _ = try say(
            .hello(token: [UInt8](repeating: 1, count: 32), RelayDevice(id: "", name: "last", kind: "x")), as: 2)
        alarms.now.withLock { $0 += 200 }
        ring()
        guard case .changes(let change)? = slow.frames.withLock({ $0.last }) else {
            Issue.record("it hears of no change")
            return
        }
        #expect(change.since == changes.revision && change.devices.map(\.name) == ["last"])
    }

    /// Runs what is due by now, and what follows from it.
    func ring(_ times: Int = 1) {
        for _ in 0..<times {
            for alarm in alarms.set.withLock({ set in
                defer { set = [] }
                return set
            }) { alarm.1() }
        }
    }

    @Test("A device that took nothing for a while hears how things are, and whose sessions ended meanwhile")
    func catchingUp() throws {
        let slow = try join(1)
        _ = try join(2)
        _ = try join(3)
        slow.isChoked = true
        slow.frames.withLock { $0 = [] }
        _ = try say(.hello(token: [UInt8](repeating: 1, count: 32), RelayDevice(id: "", name: "new", kind: "x")), as: 2)
        centre.closed(try session(3))
        _ = try say(.goodbye, as: 2)
        _ = try join(4)
        ring(3)
        #expect(slow.frames.withLock { $0 }.isEmpty)
        slow.isChoked = false
        ring()
        let told = slow.frames.withLock { $0 }
        #expect(Set(told.dropLast()) == [.interrupted(device: "3"), .removed(revision: 5, device: "2")])
        guard case .welcome("1", _, let devices, [])? = told.last else {
            return #expect(Bool(false), "it is not told how things are: \(told)")
        }
        #expect(devices.map(\.id) == ["1", "3", "4"])
        ring(3)
        #expect(slow.frames.withLock { $0 }.count == 3)
    }

    @Test("Many devices with many apps come one after the other, and once more where one was not taken")
    func largeLists() throws {
        let apps = (0..<60).map {
            RelayApp(id: "a\($0)", name: "A", attributes: ["x": String(repeating: "y", count: 4000)])
        }
        for number in UInt64(1)...5 {
            centre.opened(try session(number), Connection())
            var device = RelayDevice(id: "", name: "n", kind: "x")
            device.apps = apps
            #expect(try say(.hello(token: [UInt8](repeating: 1, count: 32), device), as: number) == .durable())
        }
        let last = try join(6)
        guard
            case .welcome("6", _, let devices, let rest)? = last.frames.withLock({
                $0.first
            })
        else {
            return #expect(Bool(false), "there is no welcome")
        }
        #expect(devices.count == 6 && rest == ["1", "2", "3", "4", "5"])
        last.isChoked = true
        ring(2)
        last.isChoked = false
        ring(8)
        let described = last.frames.withLock { $0 }.compactMap {
            if case .changed(_, let device) = $0 { device } else { nil }
        }
        #expect(described.map(\.id) == ["1", "2", "3", "4", "5"])
        #expect(described.allSatisfy { $0.apps == apps })
    }

    @Test("The end of a session is told at once, and asks for an alarm at the end of the grace")
    func ending() throws {
        let watcher = try join(1)
        _ = try join(2)
        centre.closed(try session(2))
        #expect(watcher.frames.withLock { $0.last } == .interrupted(device: "2"))
        #expect(alarms.set.withLock { $0.map(\.0) } == [5000])
    }

    final class Waker: RelayWaker {
        let asked = Mutex<[(RelayWakeChannel, Int64, @Sendable (RelayWakeResult) -> Void)]>([])

        func wake(
            _ channel: RelayWakeChannel, until deadline: Timestamp,
            then complete: @escaping @Sendable (RelayWakeResult) -> Void
        ) { asked.withLock { $0.append((channel, deadline.rawValue, complete)) } }
    }

    @Test("A device that is suspended is woken, and what was said to it is there when it comes")
    func waking() throws {
        let waker = Waker()
        centre.wakes(by: waker)
        let channel = RelayWakeChannel(service: .apns, token: "aa")
        let caller = try join(1)
        _ = try join(2, wake: channel)
        centre.closed(try session(2))
        let id = UUID()
        _ = try say(.route(RelayRoute(peer: "2", id: id, deadline: 9_000, body: [7])), as: 1)
        let asked = waker.asked.withLock { $0 }
        #expect(asked.map(\.0) == [channel] && asked.map(\.1) == [9_000])
        // The soonest alone; the deadline's follows it.
        #expect(alarms.set.withLock { $0.map(\.0) } == [5_000])
        asked[0].2(.sent)
        let phone = try join(2, wake: channel)
        let came = phone.frames.withLock { $0 }.map { if case .route(let route) = $0 { route.id } else { UUID() } }
        #expect(came.contains(id))
        #expect(!caller.frames.withLock { $0 }.contains { if case .undelivered = $0 { true } else { false } })
    }

    @Test("That a device could not be woken is told at once")
    func notWoken() throws {
        let waker = Waker()
        centre.wakes(by: waker)
        let caller = try join(1)
        _ = try join(2, wake: RelayWakeChannel(service: .fcm, token: "t"))
        centre.closed(try session(2))
        let id = UUID()
        _ = try say(.route(RelayRoute(peer: "2", id: id, deadline: 9_000, body: [])), as: 1)
        waker.asked.withLock { $0 }[0].2(.dead(reason: "UNREGISTERED"))
        #expect(caller.frames.withLock { $0 }.contains(.undelivered(id: id, .notWoken)))
    }

    @Test("Bytes that are no frame, and frames that only a server says, end the session")
    func violations() throws {
        let outcome = Mutex<UpstreamOutcome?>(nil)
        centre.receive(UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: [1]), of: try session(1)) {
            result in outcome.withLock { $0 = result }
        }
        guard case .violation = outcome.withLock({ $0 }) else { return #expect(Bool(false), "it was taken") }
        guard case .violation = try say(.refused("x"), as: 1) else { return #expect(Bool(false), "it was taken") }
        #expect(try say(.unknown("later"), as: 1) == .durable())
    }
}
