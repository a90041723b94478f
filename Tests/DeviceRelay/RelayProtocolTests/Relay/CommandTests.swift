import Foundation
import RelayProtocol
import Testing

@Suite struct CommandTests {
    static func command(_ client: ClientNumber, _ device: String = "b", deadline: Int64 = 100) -> CommandLedger.Command
    {
        CommandLedger.Command(client: client, request: 1, device: device, deadline: deadline)
    }

    @Test("A command goes through its life and ends once, by the word of its device")
    func life() {
        var ledger = CommandLedger()
        let id = UUID()
        #expect(ledger.life(of: id, at: 0) == nil)
        #expect(ledger.begin(id, Self.command(1)) == nil)
        #expect(ledger.life(of: id, at: 0)?.life == .requesting)
        ledger.sent(id)
        #expect(ledger.life(of: id, at: 0)?.life == .sent)
        ledger.executing(id, on: "c")
        #expect(ledger.life(of: id, at: 0)?.life == .sent)
        ledger.executing(id, on: "b")
        #expect(ledger.life(of: id, at: 0)?.life == .executing)
        #expect(ledger.end(id, .success, from: "c", at: 5) == nil)
        #expect(ledger.end(id, .success, from: "b", at: 5)?.client == 1)
        #expect(ledger.end(id, .failed, from: "b", at: 6) == nil)
        #expect(ledger.life(of: id, at: 0)?.life == .completed)
        #expect(ledger.life(of: id, at: 0)?.status == .success)
    }

    @Test("The last commands are those under way, and then those that ended, the newest first")
    func last() {
        var ledger = CommandLedger()
        let ids = (0..<4).map { _ in UUID() }
        for (place, id) in ids.enumerated() {
            var command = Self.command(1)
            command.givenAt = Int64(place)
            _ = ledger.begin(id, command)
        }
        _ = ledger.end(ids[2], .success, at: 5)
        _ = ledger.end(ids[0], .failed, at: 6)
        #expect(ledger.last(9).map(\.id) == [ids[3], ids[1], ids[0], ids[2]])
        #expect(ledger.last(3).map(\.status) == [nil, nil, .failed])
    }

    @Test(
        "The last state of a command says how it ended",
        arguments: [
            (.success, .completed), (.expired, .expired), (.cancelled, .cancelled), (.outcomeUnknown, .failed),
            (.notDelivered, .failed),
        ] as [(RelayStatus, CommandState)])
    func ends(_ status: RelayStatus, _ life: CommandState) {
        var ledger = CommandLedger()
        let id = UUID()
        _ = ledger.begin(id, Self.command(1))
        _ = ledger.end(id, status, at: 1)
        #expect(ledger.life(of: id, at: 0)?.life == life)
    }

    @Test("An id has one command under way")
    func onePerID() {
        var ledger = CommandLedger()
        let id = UUID()
        #expect(ledger.begin(id, Self.command(0)) == nil)
        #expect(ledger.begin(id, Self.command(0))?.status == .failed)
        _ = ledger.end(id, .success, at: 1)
        #expect(ledger.begin(id, Self.command(0)) == nil)
    }

    @Test("What exceeds 64 commands of a client waits as requesting, and ends at its deadline with the limit's name")
    func waiting() {
        var ledger = CommandLedger()
        let ids = (0..<66).map { _ in UUID() }
        for id in ids { #expect(ledger.begin(id, Self.command(0)) == nil) }
        #expect(ids.filter(ledger.isWaiting) == Array(ids.suffix(2)))
        #expect(ledger.life(of: ids[64], at: 0)?.life == .requesting)
        _ = ledger.end(ids[5], .success, at: 1)
        #expect(ledger.next() == ids[64])
        #expect(ledger.next() == nil)
        #expect(Set(ledger.due(at: 100)) == Set(ids).subtracting([ids[5]]))
        #expect(ledger.due(at: 100).isEmpty)
        let outcome = ledger.outcomeAtDeadline(of: ids[65])
        #expect(outcome.status == .resourceLimits)
        #expect(outcome.detail == "this app has 64 commands under way, and none ended before the deadline")
    }

    @Test("The next deadline is that of what has not ended, in any order of begin and end")
    func deadlines() {
        var ledger = CommandLedger()
        var open: [UUID: Int64] = [:]
        var seed: UInt64 = 7
        func draw(_ range: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % range
        }
        for _ in 0..<4000 {
            if draw(3) > 0, open.count < 60 {
                let id = UUID()
                let deadline = Int64(draw(1000))
                open[id] = deadline
                _ = ledger.begin(id, Self.command(0, deadline: deadline))
            } else if let id = open.keys.min(by: { $0.uuidString < $1.uuidString }) {
                open[id] = nil
                _ = ledger.end(id, .success, at: 0)
            }
            #expect(ledger.deadline == open.values.min())
        }
        #expect(Set(ledger.due(at: 500)) == Set(open.filter { $0.value <= 500 }.keys))
    }

    @Test("What has ended is forgotten after a day, and beyond 1,024")
    func history() {
        var ledger = CommandLedger()
        let first = UUID()
        _ = ledger.begin(first, Self.command(0))
        _ = ledger.end(first, .success, at: 0)
        let second = UUID()
        _ = ledger.begin(second, Self.command(0))
        _ = ledger.end(second, .success, at: 86_400_000)
        #expect(ledger.life(of: first, at: 0) == nil)
        #expect(ledger.life(of: second, at: 0) != nil)
    }

    @Test("What comes twice is known for ten minutes, with its answer")
    func repetition() {
        var answered = AnsweredCommands()
        let id = UUID()
        #expect(answered.arrive(id, from: "a", at: 0) == .new)
        #expect(answered.arrive(id, from: "a", at: 1) == .underWay)
        #expect(answered.arrive(id, from: "b", at: 1) == .new)
        answered.answered(id, from: "a", [1])
        #expect(answered.arrive(id, from: "a", at: 599_999) == .answered([1]))
        #expect(answered.arrive(id, from: "a", at: 600_000) == .new)
    }

    @Test("Ids beyond 1,024 and answers beyond 4 MiB are forgotten, the oldest first")
    func forgetting() {
        var answered = AnsweredCommands()
        let ids = (0...1024).map { _ in UUID() }
        for id in ids { #expect(answered.arrive(id, from: "a", at: 0) == .new) }
        #expect(answered.arrive(ids[1], from: "a", at: 0) == .underWay)
        let large = [UInt8](repeating: 0, count: 3 << 20)
        answered.answered(ids[1], from: "a", large)
        answered.answered(ids[2], from: "a", large)
        #expect(answered.arrive(ids[1], from: "a", at: 0) == .answered(nil))
        #expect(answered.arrive(ids[2], from: "a", at: 0) == .answered(large))
        #expect(answered.arrive(ids[0], from: "a", at: 0) == .new)
    }

    @Test("What is said to have been given before the memory of ids begins is not new")
    func beforeTheMemory() {
        var answered = AnsweredCommands()
        answered.begin(at: 100_000)
        answered.begin(at: 200_000)
        #expect(answered.arrive(UUID(), from: "a", firstGivenAt: 104_999, at: 110_000) == .forgotten)
        #expect(answered.arrive(UUID(), from: "a", firstGivenAt: 105_000, at: 110_000) == .new)
        // Once one has been forgotten, what was given then is not new either.
        for _ in 0...1024 { _ = answered.arrive(UUID(), from: "a", at: 120_000) }
        #expect(answered.arrive(UUID(), from: "a", firstGivenAt: 120_000, at: 130_000) == .forgotten)
        #expect(answered.arrive(UUID(), from: "a", firstGivenAt: 126_000, at: 130_000) == .new)
    }

    @Test("A command that is given again is remembered from its last end on")
    func givenAgain() {
        var ledger = CommandLedger()
        let id = UUID()
        for round in 0..<3 {
            var command = Self.command(0)
            command.givenAt = Int64(round)
            _ = ledger.begin(id, command)
            _ = ledger.end(id, .outcomeUnknown, at: Int64(round) * 80_000_000)
        }
        #expect(ledger.life(of: id, at: 0)?.status == .outcomeUnknown)
        #expect(ledger.firstGiven(id, to: "b") == 0)
        #expect(ledger.firstGiven(id, to: "c") == nil)
        #expect(ledger.last(9).count == 1)
    }
}
