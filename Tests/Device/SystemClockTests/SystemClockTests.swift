import AgentCore
import AldabaTestSupport
import Foundation
import LocalSchedule
import Testing

@testable import SystemClock

@Suite(.timeLimit(.minutes(1)))
struct SystemClockTests {
    private func events(of clock: SystemClock) -> AsyncStream<AlarmClockEvent>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: AlarmClockEvent.self)
        clock.start { continuation.yield($0) }
        return stream.makeAsyncIterator()
    }

    @Test func `it says what the system's clocks say`() throws {
        let clock = try SystemClock()
        let (first, second) = (clock.now(), clock.now())
        #expect(abs(first.wall.since(Instant(Date()))) < 60_000)
        #expect(first.boot == second.boot && first.sinceBoot <= second.sinceBoot && first.sinceBoot > 0)
    }

    @Test func `it rings once when the time has come, and not for what was armed before`() async throws {
        let clock = try SystemClock()
        var heard = events(of: clock)
        clock.arm(clock.now().wall.advanced(by: 3_600_000))
        let due = clock.now().wall.advanced(by: 30)
        clock.arm(due)
        #expect(await heard.next() == .rang)
        #expect(clock.now().wall >= due)
        clock.stop()
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 1_000_000])
    func `it rings at once for what is past`(milliseconds: Int64) async throws {
        let clock = try SystemClock()
        var heard = events(of: clock)
        clock.arm(Instant(milliseconds: milliseconds))
        #expect(await heard.next() == .rang)
        clock.stop()
    }

    @Test func `it tells of another zone, by the link, by what it leads to and by a file in its place`() async throws {
        let folder = try TemporaryFolder()
        let (zones, link) = (folder.path("zones"), folder.path("localtime"))
        let files = FileManager.default
        try files.createDirectory(atPath: zones, withIntermediateDirectories: false)
        try Data("1".utf8).write(to: URL(fileURLWithPath: zones + "/one"))
        try files.createSymbolicLink(atPath: link, withDestinationPath: "zones/one")
        let clock = try SystemClock(localtime: link)
        var heard = events(of: clock)
        clock.arm(Instant(milliseconds: 1))
        #expect(await heard.next() == .rang, "it listens now")
        try Data("2".utf8).write(to: URL(fileURLWithPath: zones + "/one"), options: .atomic)
        #expect(await heard.next() == .zoneChanged)
        try files.createSymbolicLink(atPath: link + ".new", withDestinationPath: "zones/two")
        #expect(rename(link + ".new", link) == 0)
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
    }
}
