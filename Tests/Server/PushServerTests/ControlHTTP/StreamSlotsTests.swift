import PushCore
import Testing

@testable import PushServer

@Test func `one team takes at most half of the slots, and others find the rest`() throws {
    let slots = StreamSlots(limit: 8, label: "test_streams")
    let first = TeamID(rawValue: "AAAAAAAAAA")
    let second = TeamID(rawValue: "BBBBBBBBBB")
    var held = try (0..<4).map { _ in try slots.take(for: first) }
    #expect(throws: StreamSlots.Refusal.teamFull) { try slots.take(for: first) }
    held += try (0..<4).map { _ in try slots.take(for: second) }
    #expect(throws: StreamSlots.Refusal.full) { try slots.take(for: TeamID(rawValue: "CCCCCCCCCC")) }
    held[4].release()
    held[0].release()
    held[0].release()
    let again = try slots.take(for: first)
    #expect(throws: StreamSlots.Refusal.teamFull) { try slots.take(for: first) }
    again.release()
}

@Test func `a refusal says which limit is reached and what would help`() throws {
    let slots = StreamSlots(limit: 2, label: "test_streams")
    let team = TeamID(rawValue: "AAAAAAAAAA")
    let slot = try slots.slot(for: team)
    let refusal = #expect(throws: ControlError.self) { try slots.slot(for: team) }
    #expect(refusal?.status == .tooManyRequests)
    #expect(refusal?.message == "the team has 1 streams open already; close one, or try again later")
    slot.release()
}

@Test func `a slot that nobody holds any more is free`() throws {
    let slots = StreamSlots(limit: 1, label: "test_streams")
    do { _ = try slots.take(for: nil) }
    #expect(throws: Never.self) { try slots.take(for: nil) }
}
