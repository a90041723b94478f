import AgentProtocol
import AldabaTestSupport
import Foundation
import PushCore
import Scheduling
import Testing

@testable import AgentRuntime

/// What is refused, and what a terminal is told of what waits.
@Suite(.timeLimit(.minutes(5)))
struct ScheduleTerminalTests: WaitingRequests {
    @Test(
        arguments: [
            .timeInterval(seconds: 0, repeats: false), .timeInterval(seconds: 59, repeats: true),
            .timeInterval(seconds: .infinity, repeats: false), .timeInterval(seconds: 1e30, repeats: true),
            .calendar(DateComponents(), repeats: false),
            .calendar(DateComponents(month: 2, day: 30), repeats: true),
            .calendar(DateComponents(hour: 25), repeats: true),
            .calendar(DateComponents(year: 1999), repeats: false), region(radius: 0), region(radius: .nan),
            region(radius: 20_000_001), region(latitude: 91), region(onEntry: false),
            .calendar(DateComponents(nanosecond: 5), repeats: true),
        ] as [NotificationTrigger])
    func `what will never fire is refused at once`(trigger: NotificationTrigger) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        #expect(try await agent.faultForTests(of: trigger) != nil)
        try await harness.stop()
    }

    @Test(
        arguments: [
            (DateComponents(year: 2026, month: 2, day: 30, hour: 9), "no date is of these fields: year=2026 month=2"),
            (DateComponents(month: 2, day: 30), "no date in the next forty years is of these fields: month=2 day=30"),
            (DateComponents(), "no date in the next forty years is of these fields: none are given"),
            (
                DateComponents(timeZone: .gmt, year: 2026, month: 11, day: 21, hour: 16),
                "its time has passed: 2026-11-21T16:00:00Z"
            ),
            (
                DateComponents(
                    timeZone: TimeZone(identifier: "Europe/Berlin"), year: 2026, month: 10, day: 25, hour: 2),
                "its time has passed: 2026-10-25T02:00:00+02:00"
            ),
            (
                DateComponents(calendar: Calendar(identifier: .vietnamese), month: 1, day: 1),
                "this machine does not know the months of the calendar vietnamese"
            ),
            (DateComponents(hour: 9, nanosecond: 5), "its fields match many times a minute"),
        ] as [(DateComponents, String)])
    func `what is refused says why`(fields: DateComponents, words: String) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let fault = try await agent.faultForTests(of: .calendar(fields, repeats: fields.nanosecond != nil))
        #expect(fault?.hasPrefix(words) == true, "\(fault ?? "")")
        try await harness.stop()
    }

    @Test func `a terminal's reminder takes no other's away, and is told of with its times`() async throws {
        let harness = try AgentHarness(zones: { _ in .fixed(secondsFromGMT: 7200).named("Test/Zone") })
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let daily = NotificationTrigger.calendar(DateComponents(hour: 9), repeats: true)
        guard case .pending(let told, nil)? = try await agent.notifyForTests(request("medicine", daily)) else {
            Issue.record("it is not told of")
            return
        }
        #expect(told.first?.identifier == "medicine" && told.first?.offsets == [7200, 7200, 7200])
        #expect(told.first?.reason == "whenever hour=9 in the machine's time zone (Test/Zone)")
        for number in 2...64 {
            guard case .pending? = try await agent.notifyForTests(request("\(number)", Self.every(60))) else {
                Issue.record("\(number) is refused")
                continue
            }
        }
        guard case .failed(let reason)? = try await agent.notifyForTests(request("65", Self.every(60))) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("64 notifications of terminals wait already"))
        var long = request("medicine", daily)
        long.content.body = String(repeating: "a", count: 15 << 10)
        guard case .failed(let message)? = try await agent.notifyForTests(long) else {
            Issue.record("it was taken")
            return
        }
        #expect(message == "it says more than 14336 bytes")
        guard case .pending? = try await agent.notifyForTests(request("medicine", daily)) else {
            Issue.record("it cannot take its own place")
            return
        }
        try await harness.stop()
    }

    @Test(arguments: [nil, "com.example.todo"])
    func `a terminal is told of all that waits, a page at a time`(app name: BundleID?) async throws {
        let resources = try TemporaryFolder()
        let place = resources.url.appendingPathComponent("en.lproj")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let texts = [("LONG", 40 << 10), ("TOO LONG", 2 << 20)].map { key, length in
            "\"\(key)\" = \"\(String(repeating: "a", count: length))\";"
        }
        try Data(texts.joined(separator: "\n").utf8).write(to: place.appendingPathComponent("Localizable.strings"))
        let harness = try AgentHarness { $0.resources = resources.url.path }
        try await harness.start()
        let app = try await harness.readyApp()
        for number in 1...63 {
            var request = request("r\(number)", Self.every(Double(100 * number), repeats: number.isMultiple(of: 2)))
            // Sixty of them are more than a frame, and one alone would be.
            request.content.bodyLocalization = .init(key: number == 40 ? "TOO LONG" : "LONG", arguments: [])
            #expect(await add(request, app, number: Int64(number)) == .done)
        }
        #expect(await add(request("place", Self.region()), app, number: 64) == .done)
        let agent = try #require(harness.agent.withLock { $0 })
        for number in 1...200 {
            agent.enter { agent in
                agent.schedule(
                    NotificationRequest(
                        identifier: "s\(number)", content: NotificationContent(), trigger: Self.every(9_000)),
                    as: nil, app: BundleID(rawValue: "com.example.other\(number % 4)"))
            }
        }
        var all: [PendingNotification] = []
        var last: PendingOrder?
        var pages = 0
        repeat {
            let answer = try await agent.waitingForTests(name, after: last)
            guard case .pending(let page, let next) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(try AgentFrame.encode(AgentMessage.managed(request: 1, answer)).count <= AgentFrame.maximumLength)
            all += page
            last = next
            pages += 1
        } while last != nil
        let times = all.map { $0.times.first ?? .max }
        #expect(times == times.sorted() && pages > 1)
        #expect(
            all.count == (name == nil ? 264 : 64) && Set(all.map { $0.app.rawValue + $0.identifier }).count == all.count
        )
        #expect(all.last?.identifier == "place")
        #expect(all.first { $0.identifier == "r1" }?.content.body.count == 40 << 10)
        #expect(all.first { $0.identifier == "r40" }?.content.bodyLocalization?.key == "TOO LONG")
        #expect(all.filter { $0.reason.contains("installed again") }.count == (name == nil ? 200 : 0))
        try await harness.stop()
    }
}
