import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Scheduling
import Testing

@testable import AgentRuntime

@Suite struct ManagementDeskTests {
    private let folder: TemporaryFolder
    private let store: AgentStore
    private var registry = AppRegistry()
    private var quietHours: QuietHours?

    init() throws {
        folder = try TemporaryFolder()
        store = try AgentStore.open(path: folder.path("agent.sqlite"), now: noon).store
        registry.apps["com.example.todo"] = InstalledApp(manifest: todoManifest, record: AppNotificationRecord())
    }

    private var handler: ManagementCommandHandler {
        let now = ClockReading(wall: noon, boot: UUID(), sinceBoot: 0)
        return ManagementCommandHandler(
            registry: registry, store: store, schedule: RequestSchedule(),
            scheduleContext: RequestSchedule.ScheduleContext(
                now: now, zones: { _ in nil }, missedPolicy: { _ in .standard }),
            circumstances: ManagementCommandHandler.AgentSnapshot(
                isConnected: false, hasServer: true, hasScreen: false, quietHours: quietHours, positionSource: nil))
    }

    private func answer(_ command: ManagementCommand) throws -> ManagementAnswer? {
        guard case .answer(let answer)? = try handler.take(command) else { return nil }
        return answer
    }

    private func order(_ command: ManagementCommand) throws -> ManagementOrder? {
        guard case .order(let order)? = try handler.take(command) else { return nil }
        return order
    }

    private func failure(_ command: ManagementCommand) throws -> String? {
        guard case .failed(let message)? = try answer(command) else { return nil }
        return message
    }

    /// Stores a notification of the app's with a button, which is in the list from then on.
    private func list(_ identifier: String) throws -> Int64? {
        var content = NotificationContent()
        content.title = identifier
        content.actions = [.init(identifier: "buy", title: "Buy")]
        let results = try store.commit([
            .fired(
                app: "com.example.todo", NotificationRequest(identifier: identifier, content: content), as: nil,
                isAsked: false, shows: .list, at: noon)
        ])
        guard case .fired(let id, _, _, _, _)? = results.first else { return nil }
        return id.rawValue
    }

    static let aboutNobody: [ManagementCommand] = [
        .list(app: "gone"), .threads(app: "gone"), .pending(app: "gone", after: nil), .settings(app: "gone"),
        .set(app: "gone", values: [:]), .openSettings(app: "gone"), .cancel(app: "gone", identifiers: []),
    ]

    @Test(arguments: aboutNobody) func `an app that is not installed is named`(command: ManagementCommand) throws {
        #expect(try #require(try failure(command)).contains("no app gone is installed"))
    }

    @Test func `what is in the list is shown with its buttons`() throws {
        let id = try #require(try list("milk"))
        guard case .list(let all)? = try answer(.list(app: nil)) else {
            Issue.record("no list")
            return
        }
        #expect(all.map(\.appName) == ["Todo"] && all.first?.actions.map(\.identifier) == ["buy"])
        #expect(try answer(.show(notification: id)) == .list(all))
        guard case .status(let status)? = try answer(.status) else {
            Issue.record("no status")
            return
        }
        #expect(status.apps.map(\.listed) == [1] && status.hasServer && !status.isConnected)
    }

    @Test func `only an action that a notification has is chosen`() throws {
        let id = try #require(try list("milk"))
        #expect(try failure(.act(notification: id, action: "sell", text: nil)) == "it has no action sell; it has: buy")
        #expect(try #require(try failure(.dismiss(notification: id + 1))).contains("is in the list"))
        guard
            case .act(let notification, action: "buy", text: "two")? = try order(
                .act(notification: id, action: "buy", text: "two"))
        else {
            Issue.record("nothing is chosen")
            return
        }
        #expect(notification.identifier == "milk")
        guard case .dismiss? = try order(.dismiss(notification: id)) else {
            Issue.record("nothing is dismissed")
            return
        }
    }

    @Test func `quiet hours are ordered as they were said, and anything else is told`() throws {
        guard
            case .setQuietHours(let hours?, let text)? = try order(
                .set(app: "all", values: ["quiet-hours": "22:00-07:00"]))
        else {
            Issue.record("no quiet hours")
            return
        }
        #expect(hours.text == text)
        guard case .setQuietHours(nil, "off")? = try order(.set(app: "all", values: ["quiet-hours": "off"])) else {
            Issue.record("quiet hours stay")
            return
        }
        #expect(try #require(try failure(.set(app: "all", values: ["quiet-hours": "late"]))).contains("22:00-07:00"))
        #expect(try #require(try failure(.set(app: "all", values: ["loud": "on"]))).contains("no setting loud"))
    }

    @Test func `a record is settled as a whole or not at all`() throws {
        #expect(try failure(.set(app: "com.example.todo", values: ["sounds": "off", "tunes": "on"])) != nil)
        guard
            case .settle(let record, "com.example.todo", false)? = try order(
                .set(app: "com.example.todo", values: ["sounds": "off"]))
        else {
            Issue.record("nothing is settled")
            return
        }
        #expect(!record.settings.sounds)
    }

    @Test mutating func `an app goes where a person says if it runs and says itself where it stands`() throws {
        let command = ManagementCommand.enter(app: "com.example.todo", .background)
        registry.apps["com.example.todo"]?.manifest.lifecycle = .declared
        #expect(try #require(try failure(command)).contains("does not run"))
        registry.apps["com.example.todo"]?.manifest.lifecycle = .focus
        #expect(try #require(try failure(command)).contains("lifecycle"))
        #expect(try failure(.enter(app: "gone", .active)) != nil)
    }

    @Test mutating func `an app shows its settings where it said that it has some`() throws {
        #expect(try #require(try failure(.openSettings(app: "com.example.todo"))).contains("settings of its own"))
        registry.apps["com.example.todo"]?.record.options |= AuthorizationOption.providesAppNotificationSettings
        guard case .openSettings(app: "com.example.todo")? = try order(.openSettings(app: "com.example.todo")) else {
            Issue.record("nothing is opened")
            return
        }
    }

    @Test func `only what waits is taken back`() throws {
        #expect(
            try #require(try failure(.cancel(app: "com.example.todo", identifiers: ["milk"])))
                .contains("nothing of com.example.todo waits as milk"))
    }

    @Test func `a notification that nobody could answer is not waited for`() throws {
        var content = NotificationContent()
        content.title = "Question"
        var request = NotificationRequest(identifier: "q", content: content)
        var conditions = NotifyConditions(
            presentation: PresentationConditions(standing: AppNotificationRecord(), policy: .granted), isFull: false,
            triggerFault: nil)
        #expect(try handler.fault(of: request, waits: true, conditions) == nil)
        conditions.presentation.isQuietTime = true
        #expect(try handler.fault(of: request, waits: false, conditions) == nil)
        #expect(try #require(try handler.fault(of: request, waits: true, conditions)).contains("the quiet hours"))
        conditions.isFull = true
        #expect(try #require(try handler.fault(of: request, waits: true, conditions)).contains("64 terminals wait"))
        request.trigger = .timeInterval(seconds: 60, repeats: false)
        #expect(try handler.fault(of: request, waits: false, conditions) == nil)
        #expect(
            try handler.fault(of: request, waits: true, conditions) == "only what appears at once can be waited for")
        conditions.triggerFault = "never"
        #expect(try handler.fault(of: request, waits: false, conditions) == "never")
        request.content.title = ""
        #expect(try #require(try handler.fault(of: request, waits: false, conditions)).contains("a title or a body"))
    }
}
