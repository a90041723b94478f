import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

private let now = Timestamp(seconds: 1_780_272_000)

private func team(_ number: Int) -> TeamID { TeamID(rawValue: "TEAM\(100_000 + number)") }

struct WebhookSlotsTests {
    @Test func `a team has its share of the slots, and the others the rest`() {
        var slots = WebhookSlots()
        let flood = (0..<100).map { slots.ask(of: team(0), for: .hub($0)) }
        let other = slots.ask(of: team(1), for: .hub(100))
        #expect(slots.begin(at: now) == Array(flood.prefix(WebhookSlots.ofTeam)) + [other])
        slots.end(flood[3], at: now)
        #expect(slots.begin(at: now) == [flood[WebhookSlots.ofTeam]])
    }

    @Test func `no more run than there are slots, and they begin in their order`() {
        var slots = WebhookSlots()
        let tickets = (0..<100).map { slots.ask(of: team($0), for: .hub(Int64($0))) }
        #expect(slots.begin(at: now) == Array(tickets.prefix(WebhookSlots.total)))
        slots.giveUp(tickets[WebhookSlots.total])
        slots.end(tickets[0], at: now)
        #expect(slots.begin(at: now) == [tickets[WebhookSlots.total + 1]])
    }

    @Test func `webhooks that were slow have a share of their own for five minutes`() {
        var slots = WebhookSlots()
        func ask(_ numbers: Range<Int>) -> [Int] { numbers.map { slots.ask(of: team($0), for: .hub(Int64($0))) } }
        let first = ask(0..<60)
        #expect(slots.begin(at: now).count == 60)
        let later = now.adding(milliseconds: WebhookSlots.slowness + 1)
        for ticket in first { slots.end(ticket, at: later) }
        let again = ask(0..<60)
        let others = ask(60..<100)
        #expect(slots.begin(at: later) == Array(again.prefix(WebhookSlots.ofSlow)) + others)
        let remembered = later.adding(milliseconds: WebhookSlots.memory)
        #expect(slots.begin(at: remembered.adding(milliseconds: -1)).isEmpty)
        #expect(slots.begin(at: remembered).count == WebhookSlots.total - WebhookSlots.ofSlow - 40)
    }

    @Test func `a webhook that answers in time is not slow`() {
        var slots = WebhookSlots()
        for round in 0..<3 {
            let tickets = (0..<30).map { slots.ask(of: team($0), for: .hub(Int64($0))) }
            #expect(slots.begin(at: now) == tickets, "round \(round)")
            for ticket in tickets { slots.end(ticket, at: now.adding(milliseconds: WebhookSlots.slowness)) }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct WebhookLimiterTests {
    @Test func `a team whose webhooks do not answer holds up no other, and has so many requests open`() async throws {
        let limiter = WebhookLimiter(clock: ManualClock().function)
        let (asked, latch) = (Inbox<Int64>(), Latch())
        let flood = (0..<50).map { number in
            Task {
                try await limiter.run(of: team(0), .hub(number)) {
                    asked.put(number)
                    await latch.wait()
                }
            }
        }
        var begun: Set<Int64> = []
        for _ in 0..<WebhookSlots.ofTeam { if let number = await asked.next() { begun.insert(number) } }
        #expect(try await limiter.run(of: team(1), .hub(100)) { 200 } == 200)
        // Those that wait end when they are cancelled; no other began meanwhile.
        let waiting = flood.enumerated().filter { !begun.contains(Int64($0.offset)) }.map(\.element)
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        latch.open()
        for task in flood { _ = await task.result }
        asked.finish()
        var more = 0
        while await asked.next() != nil { more += 1 }
        #expect(more == 0)
        #expect(try await limiter.run(of: team(0), .hub(1)) { 204 } == 204)
    }

    @Test func `a request that throws gives its slot back`() async throws {
        struct Wrong: Error {}
        let limiter = WebhookLimiter(clock: ManualClock().function)
        for _ in 0..<2 * WebhookSlots.ofTeam {
            await #expect(throws: Wrong.self) { try await limiter.run(of: team(0), .hub(1)) { throw Wrong() } }
        }
    }
}
