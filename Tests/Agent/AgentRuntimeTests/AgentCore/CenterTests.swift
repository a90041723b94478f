import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// What apps ask of their notification centre, over a real socket.
@Suite(.timeLimit(.minutes(5))) struct CenterTests {
    private func content(_ body: String = "Two litres", category: String = "") -> NotificationContent {
        var content = NotificationContent()
        content.title = "Milk"
        content.body = body
        content.categoryIdentifier = category
        return content
    }

    private func ask(_ command: NotificationCenterCommand, _ app: TestApp, request: Int64 = 1) async -> CenterAnswer? {
        app.send(.center(request: request, command))
        let message = await app.inbox.next { if case .centerAnswered = $0 { true } else { false } }
        guard case .centerAnswered(request, let answer)? = message else { return nil }
        return answer
    }

    private func add(_ identifier: String, _ content: NotificationContent? = nil) -> NotificationCenterCommand {
        .add(NotificationRequest(identifier: identifier, content: content ?? self.content()))
    }

    /// Shows what an app adds, as its delegate asks for a banner.
    private func show(
        _ identifier: String, _ harness: AgentHarness, _ app: TestApp, _ content: NotificationContent? = nil
    ) async throws -> Presentation {
        #expect(await ask(add(identifier, content), app) == .done)
        let (id, kind) = try #require(await app.delivery())
        #expect(id < 0 && kind == .foreground)
        app.send(.handled(notification: id, outcome: .presented(options: 26)))
        return try #require(await harness.desktop.show())
    }

    private func delivered(_ app: TestApp) async -> [String]? {
        guard case .delivered(let list)? = await ask(.delivered, app, request: 99) else { return nil }
        return list.map(\.identifier)
    }

    @Test func `an app's own notification is asked about, shown and listed, and has no timeline`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let shown = try await show("milk", harness, app)
        #expect(shown.title == "Milk" && shown.body == "Two litres" && shown.identifier == "milk")
        #expect(await delivered(app) == ["milk"])
        _ = try await show("milk", harness, app)
        #expect(await delivered(app) == ["milk"])
        try await harness.stop()
        #expect(try AgentStore.open(path: harness.configuration.databasePath, now: noon).store.outbox().isEmpty)
    }

    @Test func `the list survives a restart, and what is removed leaves the screen too`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let first = try await show("a", harness, app)
        _ = try await show("b", harness, app)
        try await harness.stop()
        try await harness.start()
        let again = try await harness.readyApp()
        #expect(await delivered(again) == ["a", "b"])
        #expect(await ask(.removeDelivered(["a", "unknown"]), again) == .done)
        #expect(await harness.desktop.withdrawn.next() == first.notification)
        #expect(await delivered(again) == ["b"])
        #expect(await ask(.removeDelivered(nil), again) == .done)
        #expect(await delivered(again) == [])
        try await harness.stop()
    }

    @Test func `requests wait until they are taken back, 64 at most, and one identifier is one request`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        for number in (0..<70) {
            let request = NotificationRequest(
                identifier: "r\(number % 66)", content: content(),
                trigger: .timeInterval(seconds: Double(100 + number), repeats: false))
            #expect(await ask(.add(request), app, request: Int64(number)) == .done)
        }
        guard case .pending(let pending)? = await ask(.pending, app) else {
            Issue.record("no answer")
            return
        }
        #expect(pending.count == 64)
        #expect(pending.first { $0.identifier == "r0" }?.trigger == .timeInterval(seconds: 166, repeats: false))
        #expect(await ask(.removePending(["r0"]), app) == .done)
        #expect(await ask(.removeDelivered(nil), app) == .done)
        guard case .pending(let rest)? = await ask(.pending, app) else { return }
        #expect(rest.count == 63)
        #expect(await ask(.removePending(nil), app) == .done)
        #expect(await ask(.pending, app) == .pending([]))
        try await harness.stop()
    }

    @Test func `what is asked again under its number is done once, also by the next agent`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        var app = try await harness.readyApp(run: "a")
        #expect(await ask(add("milk"), app, request: 7) == .done)
        app = try await harness.readyApp(run: "a")
        #expect(await ask(add("milk"), app, request: 7) == .done)
        try await harness.stop()
        try await harness.start()
        app = try await harness.readyApp(run: "a")
        #expect(await ask(add("milk"), app, request: 7) == .done)
        #expect(await ask(add("bread"), app, request: 8) == .done)
        app = try await harness.readyApp(run: "b")
        #expect(await ask(add("milk"), app, request: 7) == .done)
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        let all = try store.read { try $0.waiting(app: "com.example.todo", after: 0, limit: 10) }
        #expect(all.map(\.identifier) == ["milk", "bread", "milk"])
    }

    @Test func `a request with files is asked again after a break and waits for the files of the first`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let picture = harness.folder.path("picture.png")
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)).write(
            to: URL(fileURLWithPath: picture))
        #expect(truncate(picture, 8 << 20) == 0)
        var content = content()
        content.attachments = [NotificationAttachment(identifier: "a", path: picture, type: "public.png")]
        for number: Int64 in 1...5 {
            let first = try await harness.readyApp(run: "a")
            first.send(.center(request: number, add("milk \(number)", content)))
            try await first.close()
            let second = try await harness.readyApp(run: "a")
            // What the copying left of the picture in its place is taken then.
            let answer = await ask(add("milk \(number)", content), second, request: number)
            #expect(answer == .done)
            try await second.close()
            if !FileManager.default.fileExists(atPath: picture) {
                try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)).write(
                    to: URL(fileURLWithPath: picture))
                #expect(truncate(picture, 8 << 20) == 0)
            }
        }
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        let all = try store.read { try $0.waiting(app: "com.example.todo", after: 0, limit: 10) }
        #expect(all.map(\.identifier) == (1...5).map { "milk \($0)" })
    }

    @Test func `a movie's text is shown first, and its still in the same place when it is made`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let movie = harness.folder.path("movie.mp4")
        try Data([0, 0, 0, 24] + Array("ftypisom".utf8)).write(to: URL(fileURLWithPath: movie))
        var content = content()
        content.sound = NotificationSound()
        content.attachments = [NotificationAttachment(identifier: "a", path: movie, type: "public.mpeg-4")]
        let first = try await show("milk", harness, app, content)
        #expect(first.image == nil && first.still == nil && first.sound == .standard)
        let (path, still, complete) = try #require(await harness.stills.asked.next())
        #expect(path.hasPrefix(harness.configuration.attachmentsFolder) && still == path + ".still.png")
        #expect(FileManager.default.createFile(atPath: still, contents: nil))
        complete(true)
        let second = try #require(await harness.desktop.updated.next())
        #expect(second.notification == first.notification && second.still == still && second.sound == .silent)
        try await harness.stop()
    }

    /// What an app's delegate answers, and what comes of it.
    static let answers: [(options: UInt, sound: Presentation.Sound, isListed: Bool)] = [
        (16, .silent, false), (18, .standard, false), (24, .silent, true), (26, .standard, true),
    ]

    @Test(arguments: answers.indices)
    func `what an app in front answers is what happens`(index: Int) async throws {
        let (options, sound, isListed) = Self.answers[index]
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        var content = content()
        content.sound = NotificationSound()
        #expect(await ask(add("milk", content), app) == .done)
        let (id, _) = try #require(await app.delivery())
        app.send(.handled(notification: id, outcome: .presented(options: options)))
        #expect(try #require(await harness.desktop.show()).sound == sound)
        #expect(await delivered(app) == (isListed ? ["milk"] : []))
        try await harness.stop()
    }

    @Test func `what the person turns off has an effect at once`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        let agent = try #require(harness.agent.withLock { $0 })
        func set(_ change: @escaping @Sendable (inout AppNotificationRecord) -> Void) {
            agent.enter { $0.change("com.example.todo", change) }
        }
        set { $0.authorization = .authorized }
        set { $0.settings.list = false }
        let shown = try await show("milk", harness, app)
        #expect(await delivered(app) == [])
        set { $0.settings.list = true }
        #expect(await ask(.badge, app) == .badge(0))
        #expect(await ask(.setBadge(7), app) == .done)
        #expect(await ask(.badge, app) == .badge(7))
        #expect(try #require(await harness.desktop.badges.next()).count == 7)
        set { $0.settings.badges = false }
        #expect(try #require(await harness.desktop.badges.next()).count == 0)
        #expect(await ask(.setBadge(8), app) == .done)
        set { $0.settings.badges = true }
        #expect(try #require(await harness.desktop.badges.next()).count == 8)
        set { $0.authorization = .denied }
        #expect(await harness.desktop.withdrawn.next() == shown.notification)
        #expect(try #require(await harness.desktop.badges.next()).count == 0)
        try await harness.stop()
    }

    @Test(arguments: [(-1, 1600), (Int(Int32.max) + 1, 1600), (0, nil)])
    func `a notification's badge is a number from 0`(badge: Int, code: Int?) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        var content = content()
        content.badge = badge
        let answer = await ask(add("milk", content), app)
        if case .failed(let found, _)? = answer {
            #expect(found == code)
        } else {
            #expect(answer == .done && code == nil)
        }
        try await harness.stop()
    }

    @Test func `categories outlive the agent and give the buttons; a pressed one reaches the app`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let category = NotificationCategory(
            identifier: "todo",
            actions: [
                .init(identifier: "done", title: "Done"),
                .init(identifier: "say", title: "Say", textInput: .init(buttonTitle: "Send", placeholder: "What?")),
            ])
        #expect(await ask(.setCategories([category]), try await harness.readyApp()) == .done)
        try await harness.stop()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await ask(.categories, app) == .categories([category]))
        #expect(await ask(add("milk", content(category: "todo")), app) == .done)
        let (id, _) = try #require(await app.delivery())
        app.send(.handled(notification: id, outcome: .presented(options: 26)))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.buttons.map(\.label) == ["Done", "Say"])
        #expect(shown.buttons.last?.reply == .init(placeholder: "What?", submitLabel: "Send"))
        harness.desktop.does(.replied(shown.notification, button: "say", text: "soon"))
        let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
        guard case .respond(_, let notification, "say", "soon")? = message else {
            Issue.record("another message: \(String(describing: message))")
            return
        }
        #expect(notification.id == id && notification.content?.title == "Milk")
        try await harness.stop()
    }

    @Test(arguments: [
        (ReplyAnswer.text("soon"), String?.some("soon")), (.unavailable("no program"), nil), (.cancelled, nil),
    ])
    func `a desktop that cannot ask for text opens a window`(answer: ReplyAnswer, text: String?) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        var content = content()
        content.actions = [
            .init(identifier: "say", title: "Say", textInput: .init(buttonTitle: "Send", placeholder: "What?"))
        ]
        #expect(await ask(add("milk", content), app) == .done)
        let (id, _) = try #require(await app.delivery())
        app.send(.handled(notification: id, outcome: .presented(options: 26)))
        let shown = try #require(await harness.desktop.show())
        harness.desktop.does(.pressed(shown.notification, button: "say", activationToken: nil))
        let (question, complete) = try #require(await harness.window.questions.next())
        #expect(
            question
                == ReplyQuestion(
                    appName: "Todo", label: "Say", reply: .init(placeholder: "What?", submitLabel: "Send")))
        complete(answer)
        if case .unavailable = answer {
            let hint = try #require(await harness.desktop.show())
            #expect(hint.notification == shown.notification && hint.title == "Reply in a terminal")
            #expect(hint.body.hasPrefix("aldaba notifications act \(shown.notification) --action say --text TEXT\n"))
            #expect(hint.body.contains("no program") && hint.buttons.isEmpty)
        }
        if let text {
            let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
            guard case .respond(_, _, "say", text)? = message else {
                Issue.record("another message: \(String(describing: message))")
                return
            }
        } else {
            #expect(await delivered(app) == ["milk"])
        }
        try await harness.stop()
    }

    @Test(arguments: [
        (-2, CenterAnswer.failed(code: 1600, message: "a badge is a number from 0; -1 hides it")), (7, .done),
    ])
    func `a badge is a number from 0`(badge: Int, answer: CenterAnswer) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        #expect(await ask(.setBadge(badge), try await harness.readyApp()) == answer)
        try await harness.stop()
    }

    @Test func `a badge of 0 takes the list with it, -1 does not`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        _ = try await show("a", harness, app)
        #expect(await ask(.setBadge(5), app) == .done)
        #expect(try #require(await harness.desktop.badges.next()) == (5, "com.example.todo"))
        #expect(await ask(.setBadge(-1), app) == .done)
        #expect(try #require(await harness.desktop.badges.next()) == (0, "com.example.todo"))
        #expect(await delivered(app) == ["a"])
        #expect(await ask(.setBadge(0), app) == .done)
        #expect(await delivered(app) == [])
        try await harness.stop()
    }

    @Test func `without authorization nothing is taken, and the answer says what to do`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        guard case .failed(1, let message)? = await ask(add("milk"), app) else {
            Issue.record("it was taken")
            return
        }
        #expect(message.contains("requestAuthorization"))
        try await harness.stop()
    }

    @Test func `while the screen is locked a placeholder stands for the text, where the person wants that`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let agent = try #require(harness.agent.withLock { $0 })
        await agent.change("com.example.todo") { $0.settings.previews = .whenUnlocked }
        let category = NotificationCategory(
            identifier: "todo", options: NotificationCategory.hiddenPreviewsShowTitle,
            hiddenPreviewsBodyPlaceholder: "A to-do item")
        #expect(await ask(.setCategories([category]), app) == .done)
        harness.desktop.does(.locked(true))
        for (isLocked, body) in [(true, "A to-do item"), (false, "Two litres")] {
            harness.desktop.does(.locked(isLocked))
            #expect(await ask(add("milk", content(category: "todo")), app) == .done)
            let (id, _) = try #require(await app.delivery())
            app.send(.handled(notification: id, outcome: .presented(options: 26)))
            let shown = try #require(await harness.desktop.show())
            #expect(shown.title == "Milk" && shown.body == body)
        }
        try await harness.stop()
    }

    @Test func `what is taken back on its way to the screen is neither shown for long nor listed`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let request = NotificationRequest(identifier: "milk", content: content())
        agent.enter { $0.fireAdded(request, as: nil, app: "com.example.todo") }
        let (shown, complete) = try #require(await harness.desktop.presented.next())
        let app = try await harness.readyApp()
        #expect(await ask(.removeDelivered(["milk"]), app) == .done)
        #expect(await harness.desktop.withdrawn.next() == shown.notification)
        complete(.presented(handle: "h", note: nil))
        #expect(await delivered(app) == [])
        try await harness.stop()
    }

    @Test func `what the desktop does not take is in the list all the same`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let request = NotificationRequest(identifier: "milk", content: content())
        agent.enter { $0.fireAdded(request, as: nil, app: "com.example.todo") }
        try #require(await harness.desktop.presented.next()).complete(.failed(reason: "no server"))
        let app = try await harness.readyApp()
        #expect(await delivered(app) == ["milk"])
        try await harness.stop()
    }

    @Test func `what was listed quietly and opened does not come back`() throws {
        let folder = try TemporaryFolder()
        let store = try AgentStore.open(path: folder.path("agent.sqlite"), now: noon).store
        let app: BundleID = "com.example.todo"
        let conditions = PresentationConditions(standing: AppNotificationRecord(), policy: .granted)
        _ = try store.commit([arrival(1, .waitsShown(.list)), .dismissed(NotificationID(rawValue: 1), at: noon)])
        _ = try store.commit([.leftUnhandled(app: app, conditions, at: noon)])
        #expect(try store.read { try $0.wantedIDs() }.isEmpty)
        #expect(try store.read { try $0.listed(app: app, limit: 10) }.isEmpty)
        #expect(try store.outbox() == ["1 presented", "1 dismissed"])
    }

    @Test func `what says nothing is refused`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        guard case .failed(1401, _)? = await ask(add("milk", NotificationContent()), try await harness.readyApp())
        else {
            Issue.record("it was taken")
            return
        }
        try await harness.stop()
    }

    @Test func `an app that is away has its own notification shown at once when it fires`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let request = NotificationRequest(identifier: "milk", content: content())
        agent.enter { $0.fireAdded(request, as: nil, app: "com.example.todo") }
        let shown = try #require(await harness.desktop.show())
        #expect(shown.notification.rawValue == -1 && shown.identifier == "milk")
        harness.desktop.does(.opened(shown.notification, activationToken: nil))
        #expect(await delivered(try await harness.readyApp()) == [])
        try await harness.stop()
    }
}
