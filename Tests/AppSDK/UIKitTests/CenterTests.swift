import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Synchronization
import Testing
import UIKit
import UserNotifications

/// What an app asks of the notification centre, over a real socket.
@MainActor
final class CenterTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let center: UNUserNotificationCenter

    init() throws {
        agent = try FakeAgent()
        host = AppHost(configuration: AppHostConfiguration(app: "com.example.todo", socketPath: agent.path))
        center = UNUserNotificationCenter(host: host)
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    /// The next command that the app gives.
    private func nextCommand() async throws -> (request: Int64, command: NotificationCenterCommand) {
        let message = try await agent.next { if case .center = $0 { true } else { false } }
        guard case .center(let request, let command) = message else { throw POSIXError(.EPROTO) }
        return (request, command)
    }

    private nonisolated static func request(_ identifier: String = "milk", trigger: UNNotificationTrigger? = nil)
        -> UNNotificationRequest
    {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.userInfo = ["id": 7]
        return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }

    @Test func `a request is added in both forms, and the agent's refusal is the error`() async throws {
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 90, repeats: true)
        async let added: Void = center.add(Self.request(trigger: trigger))
        try await agent.welcome()
        let first = try await nextCommand()
        guard case .add(let wire) = first.command else { throw POSIXError(.EPROTO) }
        #expect(wire.identifier == "milk" && wire.content.title == "Milk")
        #expect(wire.content.userInfo == .json(#"{"id":7}"#))
        #expect(wire.trigger == .timeInterval(seconds: 90, repeats: true))
        try agent.say(.centerAnswered(request: first.request, .done))
        try await added

        async let error = withCheckedContinuation { continuation in
            center.add(Self.request()) { continuation.resume(returning: $0) }
        }
        let second = try await nextCommand()
        try agent.say(.centerAnswered(request: second.request, .failed(code: 1, message: "Not allowed.")))
        let refusal = await error as? UNError
        #expect(refusal?.code == .notificationsNotAllowed)
        #expect(refusal?.localizedDescription == "Not allowed.")
    }

    @Test func `what waits and what was delivered is read, and taken back`() async throws {
        async let pending = center.pendingNotificationRequests()
        try await agent.welcome()
        let wire = NotificationRequest(
            identifier: "milk", content: NotificationContent(payload: #"{"aps":{"alert":"x"}}"#),
            trigger: .timeInterval(seconds: 5, repeats: false))
        try agent.say(.centerAnswered(request: try await nextCommand().request, .pending([wire])))
        #expect(await pending.map(\.identifier) == ["milk"])
        #expect(await pending.first?.trigger is UNTimeIntervalNotificationTrigger)

        async let delivered = center.deliveredNotifications()
        var local = FakeAgent.notification(-4, payload: "{}")
        local.content = wire.content
        local.trigger = wire.trigger
        try agent.say(
            .centerAnswered(
                request: try await nextCommand().request, .delivered([local, FakeAgent.notification(5)])))
        #expect(await delivered.map(\.aldabaID) == [nil, 5])
        #expect(await delivered.map { $0.request.trigger is UNPushNotificationTrigger } == [false, true])

        center.removePendingNotificationRequests(withIdentifiers: ["milk"])
        center.removeAllPendingNotificationRequests()
        center.removeDeliveredNotifications(withIdentifiers: [])
        center.removeAllDeliveredNotifications()
        var commands: [NotificationCenterCommand] = []
        while commands.count < 4 { commands.append(try await nextCommand().command) }
        #expect(
            commands == [.removePending(["milk"]), .removePending(nil), .removeDelivered([]), .removeDelivered(nil)])
    }

    @Test func `categories go to the agent whole, and come back equal`() async throws {
        let icon = UNNotificationActionIcon(systemImageName: "checkmark")
        let categories: Set<UNNotificationCategory> = [
            UNNotificationCategory(
                identifier: "todo",
                actions: [
                    UNNotificationAction(
                        identifier: "done", title: "Done", options: [.destructive, .foreground], icon: icon),
                    UNTextInputNotificationAction(
                        identifier: "later", title: "Later", options: [], textInputButtonTitle: "Send",
                        textInputPlaceholder: "When?"),
                ], intentIdentifiers: ["i"], hiddenPreviewsBodyPlaceholder: "Something",
                categorySummaryFormat: "%u more", options: [.customDismissAction, .hiddenPreviewsShowTitle]),
            UNNotificationCategory(identifier: "plain", actions: [], intentIdentifiers: []),
        ]
        center.setNotificationCategories(categories)
        async let read = center.notificationCategories()
        try await agent.welcome()
        guard case .setCategories(let wire) = try await nextCommand().command else { throw POSIXError(.EPROTO) }
        #expect(wire.map(\.identifier) == ["plain", "todo"])
        try agent.say(.centerAnswered(request: try await nextCommand().request, .categories(wire)))
        #expect(await read == categories)
        #expect(await read.first { $0.identifier == "todo" }?.actions.last is UNTextInputNotificationAction)
    }

    @Test func `of two categories with one identifier the one that the app made last is set`() async throws {
        func category(_ title: String) -> UNNotificationCategory {
            UNNotificationCategory(
                identifier: "todo", actions: [UNNotificationAction(identifier: "a", title: title)],
                intentIdentifiers: [])
        }
        // Made before what the agent has is read, and counted all the same.
        let mine = category("mine")
        async let read = center.notificationCategories()
        try await agent.welcome()
        let agents = NotificationCategory(
            identifier: "todo", actions: [NotificationActionDescription(identifier: "a", title: "the agent's")])
        try agent.say(.centerAnswered(request: try await nextCommand().request, .categories([agents])))
        let both = await read
        for set in [both.union([mine]), [mine, category("last")], [category("other"), category("last")]] {
            center.setNotificationCategories(set)
            guard case .setCategories(let wire) = try await nextCommand().command else { throw POSIXError(.EPROTO) }
            #expect(wire.map { $0.actions.map(\.title) } == [[set == both.union([mine]) ? "mine" : "last"]])
        }
    }

    @Test func `a badge is set, and one out of range is refused before the agent hears of it`() async throws {
        async let set: Void = center.setBadgeCount(0)
        try await agent.welcome()
        let (request, command) = try await nextCommand()
        #expect(command == .setBadge(0))
        try agent.say(.centerAnswered(request: request, .done))
        try await set
        for badge in [-1, Int(Int32.max) + 1, .min] {
            await #expect(throws: UNError.self) { try await center.setBadgeCount(badge) }
        }
    }

    @Test func `requests that cannot be are refused before the agent hears of them`() async throws {
        let empty = UNNotificationRequest(identifier: "e", content: UNMutableNotificationContent(), trigger: nil)
        await #expect { try await center.add(empty) } throws: {
            ($0 as? UNError)?.code == .notificationInvalidNoContent
        }
        let past = UNCalendarNotificationTrigger(
            dateMatching: DateComponents(year: 2001, month: 1, day: 1), repeats: false)
        await #expect { try await center.add(Self.request(trigger: past)) } throws: {
            ($0 as? UNError)?.code == .notificationInvalidNoDate
        }
        let content = UNMutableNotificationContent()
        content.body = "x"
        content.userInfo = ["place": URL(fileURLWithPath: "/")]
        await #expect {
            try await center.add(UNNotificationRequest(identifier: "u", content: content, trigger: nil))
        } throws: {
            ($0 as? CocoaError)?.code == .coderInvalidValue && $0.localizedDescription.contains("userInfo[\"place\"]")
        }
        content.userInfo = ["text": String(repeating: "x", count: 1 << 20)]
        await #expect {
            try await center.add(UNNotificationRequest(identifier: "u", content: content, trigger: nil))
        } throws: {
            ($0 as? CocoaError)?.code == .coderInvalidValue
                && $0.localizedDescription.hasPrefix("The notification \"u\" cannot be sent: a frame of 10")
        }
    }

    @Test func `completion handlers run one after the other, in order, and not on the main thread`() async throws {
        let order = Mutex<[Int]>([])
        let onMain = Atomic(false)
        let center = center
        async let all: Void = withCheckedContinuation { continuation in
            for number in 0..<100 {
                center.getNotificationCategories { _ in
                    if Thread.isMainThread { onMain.store(true, ordering: .relaxed) }
                    let count = order.withLock { order in
                        order.append(number)
                        return order.count
                    }
                    if count == 100 { continuation.resume() }
                }
            }
        }
        try await agent.welcome()
        for _ in 0..<100 {
            try agent.say(.centerAnswered(request: try await nextCommand().request, .categories([])))
        }
        await all
        #expect(order.withLock { $0 } == Array(0..<100))
        let wasOnMain = onMain.load(ordering: .relaxed)
        #expect(!wasOnMain)
    }

    @Test func `an app that nobody knows gets errors and empty lists`() async {
        let host = AppHost(configuration: AppHostConfiguration(app: nil, socketPath: agent.path))
        let center = UNUserNotificationCenter(host: host)
        await #expect(throws: UNError.self) { try await center.add(Self.request()) }
        await #expect(throws: UNError.self) { try await center.setBadgeCount(1) }
        #expect(await center.pendingNotificationRequests().isEmpty)
        #expect(await center.deliveredNotifications().isEmpty)
        #expect(await center.notificationCategories().isEmpty)
        host.stop()
    }
}
