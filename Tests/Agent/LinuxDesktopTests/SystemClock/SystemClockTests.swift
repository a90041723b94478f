import AgentEngine
import AldabaTestSupport
import CLinux
import Foundation
import Logging
import Platform
import PushCore
import Scheduling
import Synchronization
import Testing

@testable import LinuxDesktop

@Suite(.timeLimit(.minutes(5)))
struct SystemClockTests {
    private func events(of clock: SystemClock) -> AsyncStream<AlarmClockEvent>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: AlarmClockEvent.self)
        clock.start { continuation.yield($0) }
        return stream.makeAsyncIterator()
    }

    @Test func `it says what the system's clocks say`() throws {
        let clock = try SystemClock()
        let (first, second) = (clock.now(), clock.now())
        #expect(abs(first.wall.milliseconds(since: Timestamp(Date()))) < 60_000)
        #expect(first.boot == second.boot && first.sinceBoot <= second.sinceBoot && first.sinceBoot > 0)
    }

    @Test func `it rings once when the time has come, and not for what was armed before`() async throws {
        let clock = try SystemClock()
        var heard = events(of: clock)
        clock.arm(clock.now().wall.adding(milliseconds: 3_600_000))
        let due = clock.now().wall.adding(milliseconds: 30)
        clock.arm(due)
        #expect(await heard.next() == .rang)
        #expect(clock.now().wall >= due)
        clock.stop()
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 1_000_000])
    func `it rings at once for what is past`(milliseconds: Int64) async throws {
        let clock = try SystemClock()
        var heard = events(of: clock)
        clock.arm(Timestamp(rawValue: milliseconds))
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
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang, "it listens now")
        try Data("2".utf8).write(to: URL(fileURLWithPath: zones + "/one"), options: .atomic)
        #expect(await heard.next() == .zoneChanged)
        try files.createSymbolicLink(atPath: link + ".new", withDestinationPath: "zones/two")
        #expect(rename(link + ".new", link) == 0)
        #expect(await heard.next() == .zoneChanged)
        // Taken away and made anew.
        #expect(unlink(link) == 0)
        try files.createSymbolicLink(atPath: link, withDestinationPath: "zones/one")
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
    }

    @Test func `it tells of other rules of zones, not of each of many files, also in folders that came later`()
        async throws
    {
        let folder = try TemporaryFolder()
        let zones = folder.path("zoneinfo")
        let files = FileManager.default
        try files.createDirectory(atPath: zones + "/Europe", withIntermediateDirectories: true)
        let clock = try SystemClock(localtime: folder.path("localtime"), zoneFolder: zones)
        var heard = events(of: clock)
        for number in 1...300 {
            try Data("\(number)".utf8).write(to: URL(fileURLWithPath: zones + "/Europe/\(number)"), options: .atomic)
        }
        try files.createDirectory(atPath: zones + "/America/Indiana", withIntermediateDirectories: true)
        #expect(await heard.next() == .zoneChanged)
        // What it told of more than once, since files came slowly, is over when it rings after a while.
        clock.arm(clock.now().wall.adding(milliseconds: 1000))
        var told = 1
        while await heard.next() == .zoneChanged { told += 1 }
        #expect(told < 20)
        try Data().write(to: URL(fileURLWithPath: zones + "/America/Indiana/Knox"))
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
    }

    @Test func `it tells of other rules where the folder of zones is another, by its name or by a link`() async throws {
        let folder = try TemporaryFolder()
        let files = FileManager.default
        for name in ["one", "two"] {
            try files.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
        }
        let link = folder.path("zoneinfo")
        try files.createSymbolicLink(atPath: link, withDestinationPath: "one")
        let clock = try SystemClock(localtime: folder.path("localtime"), zoneFolder: link)
        var heard = events(of: clock)
        try files.createSymbolicLink(atPath: link + ".new", withDestinationPath: "two")
        #expect(rename(link + ".new", link) == 0)
        #expect(await heard.next() == .zoneChanged)
        try Data().write(to: URL(fileURLWithPath: folder.path("two") + "/Zone"))
        #expect(await heard.next() == .zoneChanged, "in the folder to which the link leads now")
        #expect(rename(folder.path("two"), folder.path("three")) == 0)
        try files.createDirectory(atPath: folder.path("two"), withIntermediateDirectories: false)
        #expect(await heard.next() == .zoneChanged)
        try Data().write(to: URL(fileURLWithPath: folder.path("two") + "/Zone"))
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
    }

    @Test func `a zone that is set right after the start is told of`() async throws {
        for _ in 0..<20 {
            let folder = try TemporaryFolder()
            let link = folder.path("localtime")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "one")
            let clock = try SystemClock(localtime: link)
            var heard = events(of: clock)
            try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: "two")
            #expect(rename(link + ".new", link) == 0)
            #expect(await heard.next() == .zoneChanged)
            clock.stop()
        }
    }

    @Test func `that the clock was set is told of, by who reads the timer and by who arms it`() async throws {
        let (reads, arms) = (Answers([-ECANCELED]), Answers([0, 0, -ECANCELED]))
        var calls = ClockCalls()
        calls.readAlarm = { timer in
            // The timer itself says nothing when this machine's clock stays as it is.
            let read = aldaba_alarm_read(timer)
            return read == 1 ? reads.next() ?? 1 : read
        }
        calls.setAlarm = { timer, milliseconds in
            _ = aldaba_alarm_set(timer, milliseconds)
            return arms.next() ?? 0
        }
        let clock = try SystemClock(calls: calls)
        var heard = events(of: clock)
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .wallClockChanged)
        clock.arm(clock.now().wall.adding(milliseconds: 3_600_000))
        #expect(await heard.next() == .wallClockChanged)
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang)
        clock.stop()
    }

    @Test func `a system that refuses to wait is asked again, and it rings meanwhile`() async throws {
        let log = Lines()
        let refusals = Answers([EINVAL, EINVAL, EINVAL, ENOMEM])
        let mayPass = DispatchSemaphore(value: 0)
        var calls = ClockCalls()
        calls.poll = { descriptors, deadline in
            guard let code = refusals.next() else { return Pause.poll(&descriptors, until: deadline) }
            errno = code
            return false
        }
        calls.pause = { mayPass.wait() }
        let clock = try SystemClock(logger: Logger(label: "test") { _ in log }, calls: calls)
        var heard = events(of: clock)
        clock.arm(Timestamp(rawValue: 1))
        mayPass.signal()
        #expect(await heard.next() == .rang)
        for _ in 0..<3 { mayPass.signal() }
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang)
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang)
        clock.stop()
        let lines = log.all
        #expect(lines.first == .error && lines.count { $0 == .error } == 1, "it is said once")
    }
}

/// Answers to be given one after the other.
private final class Answers: Sendable {
    private let rest: Mutex<[Int32]>

    init(_ answers: [Int32]) { rest = Mutex(answers) }

    func next() -> Int32? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// Keeps how grave each line of a log is.
private struct Lines: LogHandler {
    private final class Store: Sendable {
        let levels = Mutex<[Logger.Level]>([])
    }

    private let store = Store()
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace
    var all: [Logger.Level] { store.levels.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { store.levels.withLock { $0.append(event.level) } }
}
