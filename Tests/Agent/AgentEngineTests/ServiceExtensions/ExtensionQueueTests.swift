import AgentEngine
import AgentProtocol
import PushCore
import Testing

/// A queue and the time that it is told.
private struct Trial {
    var queue = ExtensionQueue()
    var now = Duration.zero
    /// What the queue wanted done since this was last taken.
    var wanted: [ExtensionQueue.Directive] = []

    mutating func tell(_ event: ExtensionQueue.Event) { wanted += queue.handle(event, now: now) }

    mutating func arrive(_ ids: ClosedRange<Int64>, app: BundleID = "a") {
        for id in ids { tell(.arrived(NotificationID(rawValue: id), app: app)) }
    }

    /// Lets time pass, with every deadline in between.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let deadline = queue.nextDeadline, deadline <= end {
            now = max(now, deadline)
            tell(.timePassed)
        }
        now = end
    }

    mutating func answer(_ process: Int, _ id: Int64) {
        tell(.answered(process, NotificationID(rawValue: id), .unchanged))
        tell(.settled(NotificationID(rawValue: id)))
    }

    mutating func take() -> [ExtensionQueue.Directive] {
        defer { wanted = [] }
        return wanted
    }

    /// How each notification ended, in order; taken.
    mutating func ends() -> [String] {
        take().compactMap { directive in
            guard case .finish(let id, _, let result, _) = directive else { return nil }
            switch result {
            case .answered: return "\(id.rawValue) answered"
            case .failed(let outcome, _): return "\(id.rawValue) \(outcome.rawValue)"
            }
        }
    }
}

struct ExtensionQueueTests {
    private let one = NotificationID(rawValue: 1)
    private let two = NotificationID(rawValue: 2)

    @Test func `a notification starts a process, is handed to it when it is connected, and ends with its answer`() {
        var trial = Trial()
        trial.arrive(1...1)
        #expect(trial.take() == [.start(1, app: "a")])
        trial.pass(.milliseconds(40))
        trial.tell(.connected(1))
        #expect(trial.take() == [.extend(1, one)])
        trial.pass(.milliseconds(372))
        trial.tell(.answered(1, one, .unchanged))
        #expect(trial.take() == [.finish(one, app: "a", .answered(.unchanged), after: .milliseconds(412))])
    }

    @Test func `the first answer counts, and one for another notification never`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.tell(.answered(1, one, .unchanged))
        trial.tell(.connected(1))
        trial.tell(.answered(1, two, .unchanged))
        trial.tell(.answered(7, one, .unchanged))
        #expect(trial.ends() == [])
        trial.tell(.answered(1, one, .unchanged))
        trial.tell(.answered(1, one, .unchanged))
        trial.tell(.settled(one))
        trial.tell(.answered(1, one, .unchanged))
        #expect(trial.ends() == ["1 answered"])
    }

    @Test func `an app has two processes at once, each with one notification, and the rest waits in order`() {
        var trial = Trial()
        trial.arrive(1...5)
        #expect(trial.take() == [.start(1, app: "a"), .start(2, app: "a")])
        trial.arrive(6...6, app: "b")
        #expect(trial.take() == [.start(3, app: "b")])
        trial.tell(.connected(1))
        trial.tell(.connected(2))
        _ = trial.take()
        trial.tell(.answered(2, two, .unchanged))
        #expect(trial.ends() == ["2 answered"])
        trial.tell(.settled(two))
        #expect(trial.take() == [.extend(2, NotificationID(rawValue: 3))], "not before the other is stored")
    }

    @Test func `a process is kept for ten seconds without work, and serves what comes meanwhile`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.tell(.connected(1))
        trial.answer(1, 1)
        _ = trial.take()
        trial.pass(.seconds(9))
        trial.arrive(2...2)
        #expect(trial.take() == [.extend(1, two)])
        trial.pass(.seconds(5))
        #expect(trial.take() == [])
        trial.answer(1, 2)
        _ = trial.take()
        trial.pass(.seconds(10))
        #expect(trial.take() == [.kill(1)])
        trial.tell(.ended(1, how: "signal 9"))
        #expect(trial.take() == [.clear(1)])
        #expect(trial.queue.nextDeadline == nil)
    }

    @Test func `after 28 seconds it is told, after 30 it is killed, and the notification shown as it came`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.pass(.seconds(1))
        trial.tell(.connected(1))
        _ = trial.take()
        trial.pass(.milliseconds(26_999))
        #expect(trial.take() == [])
        trial.pass(.milliseconds(1))
        #expect(trial.take() == [.expire(1, one)])
        trial.pass(.milliseconds(1_999))
        #expect(trial.take() == [])
        trial.pass(.milliseconds(1))
        #expect(trial.wanted.first == .kill(1))
        #expect(trial.ends() == ["1 timedOut"])
        trial.tell(.answered(1, one, .unchanged))
        #expect(trial.ends() == [], "too late")
    }

    @Test func `an answer to the warning counts`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.tell(.connected(1))
        trial.pass(.seconds(29))
        trial.answer(1, 1)
        trial.pass(.seconds(5))
        #expect(trial.ends() == ["1 answered"])
    }

    @Test func `a process that is never connected has no more time`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.pass(.seconds(30))
        #expect(trial.take().contains(.kill(1)))
    }

    @Test
    func `a crash, a start that fails and too much memory end the notification, and another process serves the next`() {
        var trial = Trial()
        trial.arrive(1...5)
        trial.tell(.connected(1))
        trial.tell(.ended(1, how: "signal 11"))
        #expect(trial.wanted.contains(.start(3, app: "a")))
        trial.tell(.notStarted(2, reason: "no such file"))
        trial.tell(.connected(3))
        trial.tell(.grewTooLarge(3, bytes: 30 << 20))
        #expect(trial.wanted.contains(.kill(3)))
        #expect(trial.ends() == ["1 crashed", "2 notStarted", "3 tooMuchMemory"])
        #expect(trial.queue.running.count == 2, "the killed one counts until it has ended")
        trial.tell(.ended(3, how: "signal 9"))
        #expect(trial.wanted == [.clear(3), .start(5, app: "a")])
    }

    @Test func `a process that leaves is given a moment, so that it is known how it ended`() {
        var trial = Trial()
        trial.arrive(1...2)
        trial.tell(.connected(1))
        trial.tell(.connected(2))
        _ = trial.take()
        trial.tell(.disconnected(1))
        trial.tell(.disconnected(2))
        trial.tell(.ended(1, how: "exit code 3"))
        let finish = ExtensionQueue.Directive.finish(
            one, app: "a", .failed(.crashed, note: "its process ended: exit code 3"), after: .zero)
        #expect(trial.take() == [finish, .clear(1)])
        trial.pass(.milliseconds(500))
        #expect(trial.take().first == .kill(2))
    }

    @Test func `what a process that ended has answered is stored before its folder is deleted`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.tell(.connected(1))
        trial.tell(.answered(1, one, .unchanged))
        trial.tell(.ended(1, how: "exit code 0"))
        #expect(!trial.take().contains(.clear(1)))
        trial.tell(.settled(one))
        #expect(trial.take() == [.clear(1)])
    }

    @Test func `beyond 64 that wait, and after half a minute of waiting, notifications are shown as they came`() {
        var trial = Trial()
        trial.arrive(1...70)
        #expect(trial.ends() == (67...70).map { "\($0) busy" })
        trial.tell(.connected(1))
        trial.pass(.milliseconds(29_999))
        #expect(trial.ends() == [])
        trial.pass(.milliseconds(1))
        #expect(Set(trial.ends()) == Set(["1 timedOut", "2 timedOut"] + (3...66).map { "\($0) busy" }))
    }

    @Test func `what arrives again changes nothing before it is settled`() {
        var trial = Trial()
        trial.arrive(1...1)
        trial.arrive(1...1)
        #expect(trial.take() == [.start(1, app: "a")])
        trial.tell(.connected(1))
        trial.tell(.answered(1, one, .unchanged))
        trial.arrive(1...1)
        #expect(trial.ends() == ["1 answered"])
        trial.tell(.settled(one))
        trial.arrive(1...1)
        #expect(trial.take() == [.extend(1, one)])
    }

    @Test func `an app whose extension is another now gets its notifications as they came`() {
        var trial = Trial()
        trial.arrive(1...3)
        trial.arrive(4...4, app: "b")
        trial.tell(.connected(1))
        _ = trial.take()
        trial.tell(.changed(app: "a"))
        #expect(trial.wanted.filter { if case .kill = $0 { true } else { false } } == [.kill(1), .kill(2)])
        #expect(Set(trial.ends()) == ["1 interrupted", "2 interrupted", "3 interrupted"])
    }

    @Test(arguments: 0..<200)
    func `whatever happens, each notification ends once, within a minute, and two processes are the most`(seed: UInt64)
    {
        var random = Seeded(seed)
        var trial = Trial()
        var began: [Int64: Duration] = [:]
        var ended: Set<Int64> = []
        var live: [Int: Bool] = [:]
        var holds: [Int: NotificationID] = [:]

        func follow() {
            var open: [NotificationID] = []
            for directive in trial.take() {
                switch directive {
                case .start(let number, _): live[number] = false
                case .extend(let number, let id): holds[number] = id
                case .expire: break
                case .kill(let number): holds[number] = nil
                case .clear(let number): live[number] = nil
                case .finish(let id, _, _, _):
                    #expect(ended.insert(id.rawValue).inserted, "\(id) ended twice")
                    #expect(trial.now - (began[id.rawValue] ?? .zero) <= .seconds(60))
                    open.append(id)
                }
            }
            #expect(live.count <= 2)
            for id in open { trial.tell(.settled(id)) }
            if !trial.wanted.isEmpty { follow() }
        }

        for id in Int64(1)...200 {
            began[id] = trial.now
            trial.arrive(id...id)
            follow()
            for number in live.keys.sorted() {
                switch Int.random(in: 0..<12, using: &random) {
                case 0...3: trial.tell(.connected(number))
                case 4...6: if let id = holds[number] { trial.tell(.answered(number, id, .unchanged)) }
                case 7: trial.tell(.ended(number, how: "exit code 1"))
                case 8: trial.tell(.disconnected(number))
                case 9: trial.tell(.grewTooLarge(number, bytes: 1 << 30))
                default: break
                }
                follow()
            }
            let next = trial.now + .milliseconds(Int.random(in: 0..<4_000, using: &random))
            while let deadline = trial.queue.nextDeadline, deadline <= next {
                trial.pass(deadline - trial.now)
                follow()
            }
            trial.pass(next - trial.now)
        }
        for _ in 0..<200 where ended.count < 200 {
            trial.pass(.milliseconds(500))
            follow()
            for number in trial.queue.running { trial.tell(.ended(number, how: "signal 9")) }
            follow()
        }
        #expect(ended.count == 200)
        #expect(trial.queue.nextDeadline == nil)
    }
}

/// The same numbers for the same seed (splitmix64).
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
