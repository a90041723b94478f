import AldabaTestSupport
import HubProtocol
import HubServer
import PushCore
import Synchronization
import Testing

/// A push service that tells of what it is given, and answers when it is opened.
private final class GatedSender: PushSender {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    private let told: AsyncStream<[String]>.Continuation
    /// The channels of each slice, when it arrives.
    let arrivals: AsyncStream<[String]>

    init(isOpen: Bool) {
        (arrivals, told) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(100))
        state.withLock { $0.isOpen = isOpen }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for each in waiting { each.resume() }
    }

    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        told.yield(pushes.map(\.channel.key))
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return pushes.map { _ in PushVerdict(.success) }
    }
}

@Test func `a send whose push service is slow holds up none, neither of its hub nor of another`() async throws {
    let slow = GatedSender(isOpen: false)
    let quick = GatedSender(isOpen: true)
    let world = try await HubWorld(senders: [.gcm: slow, .apns: quick])
    let other = try #require(
        try await world.database.addHub(
            name: "other", team: TeamID(rawValue: "TEAM000001"), topic: Topic(rawValue: "com.example.other"),
            isStrict: false, keys: [], at: world.clock.now))
    try await world.put("android", platform: "gcm")
    try await world.put("iphone")
    var installation = try await world.hubs.installation("iphone", of: world.hub).installation
    installation.channel = .handle("token of ipad")
    _ = try await world.hubs.put(installation, of: other)
    let runner = world.runner
    let running = Task { await runner.run { try await Task.sleep(for: $0) } }
    var slowly = slow.arrivals.makeAsyncIterator()
    var quickly = quick.arrivals.makeAsyncIterator()
    let first = try await world.send(nil, format: .native(.gcm))
    #expect(await slowly.next() == ["token of android"])
    // The slice is with the push service, and stays there.
    let second = try await world.send(nil)
    #expect(await quickly.next() == ["token of iphone"])
    let request = SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil))
    _ = try await world.hubs.accept(request, for: other)
    #expect(await quickly.next() == ["token of ipad"])
    // One that is due while the slice is there begins too.
    _ = try await world.send(nil, dueAt: world.clock.now)
    #expect(await quickly.next() == ["token of iphone"])
    #expect(try await world.now(first).state == .processing)
    slow.open()
    running.cancel()
    await running.value
    #expect(second.id != first.id)
}

@Test func `a push service that is slow holds up none of the own devices of the same campaign`() async throws {
    let slow = GatedSender(isOpen: false)
    let quick = GatedSender(isOpen: true)
    let world = try await HubWorld(senders: [.gcm: slow, .aldaba: quick])
    for number in 0..<600 {
        try await world.put("own\(number)", platform: "aldaba")
        if number < 20 { try await world.put("other\(number)", platform: "gcm") }
    }
    let record = try await world.campaign("{}")
    // What is handed over after a millisecond waits for the test's clock.
    let running = Task { [runner = world.runner] in
        await runner.run { wait in
            guard wait > .seconds(1) else { return world.clock.advance(milliseconds: 1) }
            try await Task.sleep(for: wait)
        }
    }
    var quickly = quick.arrivals.makeAsyncIterator()
    var slowly = slow.arrivals.makeAsyncIterator()
    #expect(await quickly.next()?.count == 512)
    #expect(await quickly.next()?.count == 88)
    #expect(await slowly.next()?.count == 20)
    slow.open()
    running.cancel()
    await running.value
    #expect(try await world.now(record).targeted == 620)
}

private func sends(_ numbers: some Sequence<Int64>, of hub: Int64) -> [RunnableSend] {
    numbers.map { RunnableSend(number: $0, hub: hub) }
}

private let now = Timestamp(seconds: 1_800_000_000)

@Test func `a hub with a thousand sends leaves the first turn to a hub with one`() {
    var turns = SendScheduler()
    let runnable = sends(1...1000, of: 1) + sends([1001], of: 2)
    let first = turns.next(runnable, now: now)
    #expect(first.contains(RunnableSend(number: 1001, hub: 2)))
    #expect(first.filter { $0.hub == 1 }.count == SendScheduler.ofOneHub)
    // All are under way: nobody else has a turn.
    #expect(turns.next(runnable, now: now).isEmpty)
    #expect(!turns.isIdle)
}

@Test func `every send of a hub has its turn before one has a second`() {
    var turns = SendScheduler()
    let runnable = sends(1...100, of: 1)
    var order: [Int64] = []
    while order.count < 200 {
        let now = turns.next(runnable, now: now)
        order += now.map(\.number)
        for each in now { turns.end(each.number) }
    }
    #expect(order.prefix(100) == Array(1...100)[...])
    #expect(order.dropFirst(100).prefix(100) == Array(1...100)[...])
    #expect(turns.isIdle)
}

@Test func `many hubs with slow sends leave room for hubs that have nothing under way`() {
    var turns = SendScheduler()
    var runnable: [RunnableSend] = []
    for hub in 1...10 { runnable += sends((0..<20).map { Int64(hub * 100 + $0) }, of: Int64(hub)) }
    let first = turns.next(runnable, now: now)
    #expect(first.count == SendScheduler.abreast / 2)
    runnable += sends([5000], of: 50)
    #expect(turns.next(runnable, now: now) == sends([5000], of: 50))
    // However many hubs come, what is under way is bounded.
    for hub in 100..<200 { runnable += sends([Int64(hub) * 100], of: Int64(hub)) }
    let more = turns.next(runnable, now: now)
    #expect(first.count + 1 + more.count == SendScheduler.abreast)
}

@Test func `a send that could not go on rests, and others go on`() {
    var turns = SendScheduler()
    let runnable = sends([1, 2], of: 1)
    #expect(turns.next(runnable, now: now) == runnable)
    let rest = now.adding(milliseconds: 5000)
    turns.end(1, restingUntil: rest)
    turns.end(2)
    #expect(turns.nextRest == rest)
    #expect(turns.next(runnable, now: now) == sends([2], of: 1))
    #expect(turns.next(runnable, now: rest) == sends([1], of: 1))
}
