import HubProtocol
import HubServer
import PushCore
import Testing

private func bad(isProven: Bool) -> PushVerdict {
    var verdict = PushVerdict(.badChannel, reason: "BadDeviceToken")
    verdict.environment = .doubtful(.production, isProven: isProven)
    return verdict
}

private var right: PushVerdict {
    var verdict = PushVerdict(.success)
    verdict.environment = .right
    return verdict
}

extension HubWorld {
    fileprivate func isDead(_ id: String) async throws -> Bool {
        try await hubs.installation(id, of: hub).fault != nil
    }
}

@Test func `a credential of the other environment is the send's fault and kills no channel`() async throws {
    let world = try await HubWorld()
    for number in 0..<5 {
        try await world.put("i\(number)")
        world.sender.refuse("token of i\(number)", bad(isProven: true))
    }
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    for number in 0..<5 { #expect(try await !world.isDead("i\(number)")) }
    let ended = try await world.now(record)
    #expect(ended.state == .completed)
    #expect(ended.reason?.contains("environment production") == true)
    let outcomes = try await world.details(record).outcomes
    #expect(outcomes.map(\.outcome) == [.wrongToken])
    #expect(outcomes.map(\.count) == [5])
}

@Test func `a bad token beside a right one dies`() async throws {
    let world = try await HubWorld()
    for number in 0..<5 {
        try await world.put("i\(number)")
        world.sender.refuse("token of i\(number)", number == 2 ? right : bad(isProven: false))
    }
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    for number in 0..<5 { #expect(try await world.isDead("i\(number)") == (number != 2)) }
    #expect(try await world.now(record).reason == nil)
}

@Test(arguments: [true, false])
func `a single bad token dies where the credential was right before`(isProven: Bool) async throws {
    let world = try await HubWorld()
    try await world.put("one")
    world.sender.refuse("token of one", bad(isProven: isProven))
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.isDead("one") == isProven)
    #expect(try await (world.now(record).reason == nil) == isProven)
}

@Test func `what earlier slices of a send were answered counts`() async throws {
    let world = try await HubWorld()
    for number in 0..<6 {
        try await world.put("i\(number)")
        world.sender.refuse("token of i\(number)", number == 3 ? right : bad(isProven: false))
    }
    // A slice has one installation each.
    _ = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 1), for: world.hub)
    while let due = try await world.runner.runAll() {
        world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    }
    var dead: [Int] = []
    for number in 0..<6 where try await world.isDead("i\(number)") { dead.append(number) }
    #expect(dead == [4, 5])
}

@Test func `an installation of an environment without a credential is told of, and lives`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","environment":"sandbox""#)
    try await world.put("two")
    var verdict = PushVerdict(.invalidCredentials, reason: "NoCredential")
    verdict.environment = .missing(.sandbox)
    world.sender.refuse("token of one", verdict)
    world.sender.refuse("token of two", right)
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await !world.isDead("one"))
    let ended = try await world.now(record)
    #expect(ended.state == .completed)
    #expect(ended.reason?.contains("environment sandbox, for which the hub has no credential") == true)
}
