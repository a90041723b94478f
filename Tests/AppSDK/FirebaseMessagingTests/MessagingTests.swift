import AgentDouble
import AgentProtocol
import AldabaTestSupport
import AppHost
import FirebaseCore
import Foundation
import Synchronization
import Testing
import UserNotifications

@testable import FirebaseMessaging

/// An app whose delegate writes down what it is told.
@MainActor
final class NotedApp: NSObject, MessagingDelegate {
    let told = Inbox<String>()

    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String) {
        told.put("token \(fcmToken.prefix(2))")
    }

    func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
        told.put("\(remoteMessage.messageID) \(remoteMessage.appData["k"] as? String ?? "")")
    }
}

/// What the agent says reaches an app through messaging, and the reverse.
@MainActor @Suite(.timeLimit(.minutes(5)))
final class MessagingTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let app = NotedApp()

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private func messaging(_ change: (inout FirebaseSettings) -> Void = { _ in }) -> Messaging {
        var settings = FirebaseSettings()
        change(&settings)
        let messaging = Messaging(
            host: host, settings: settings, ownSender: { "42" }, delegates: { [app] in (nil, app) })
        messaging.delegate = app
        messaging.begin()
        return messaging
    }

    private func data(_ id: Int64, _ text: String, message: String? = nil) -> AgentMessage {
        let payload = #"{"gcm.message_id":"\#(message ?? "m\(id)")","from":"42","k":"\#(text)"}"#
        return .channel(.message(FakeAgent.notification(id, payload: payload)))
    }

    private nonisolated func isRegistration(_ message: AppMessage) -> Bool {
        if case .registerForRemoteNotifications = message { true } else { false }
    }

    private func next(_ wanted: AppMessage) async throws { _ = try await agent.next { $0 == wanted } }

    @Test func `the token comes unasked, and the delegate is told each one once`() async throws {
        let messaging = messaging()
        try await agent.welcome()
        let asked = try await agent.next { isRegistration($0) }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.told.next() == "token ab")
        #expect(try await messaging.token() == String(repeating: "ab", count: 32))
        try agent.say(.registered(request: nil, token: String(repeating: "cd", count: 32)))
        #expect(await app.told.next() == "token cd")
        #expect(messaging.apnsToken == Data(repeating: 0xCD, count: 32))
    }

    @Test func `without automatic initialisation the token comes when it is asked for`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        try await agent.welcome()
        try await next(.ready)
        #expect(messaging.fcmToken == nil)
        let token = Task { try await messaging.token() }
        let asked = try await agent.next { isRegistration($0) }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registrationFailed(request: request, code: "noServer", message: "there is no server"))
        await #expect(throws: MessagingError.self) { _ = try await token.value }
    }

    private func token(of sender: String, _ messaging: Messaging) async throws -> String? {
        try await withCheckedThrowingContinuation { continuation in
            messaging.retrieveFCMToken(forSenderID: sender) { token, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: token) }
            }
        }
    }

    @Test func `the token is that of the app's own sender, and there is none of another`() async throws {
        let messaging = messaging()
        try await agent.welcome()
        guard case .registerForRemoteNotifications(let request) = try await agent.next({ isRegistration($0) }) else {
            return
        }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.told.next() == "token ab")
        #expect(try await token(of: "42", messaging) == String(repeating: "ab", count: 32))
        for sender in ["43", ""] {
            let error = await #expect(throws: MessagingError.self) { _ = try await token(of: sender, messaging) }
            #expect(error?.code == .invalidRequest)
        }
        let refused: (any Error)? = await withCheckedContinuation { continuation in
            messaging.deleteFCMToken(forSenderID: "43") { continuation.resume(returning: $0) }
        }
        #expect(refused is MessagingError && messaging.fcmToken != nil)
    }

    @Test func `with the proxy disabled the device token is the app's to set`() async throws {
        let messaging = messaging { $0.isProxyEnabled = false }
        try await agent.welcome()
        guard case .registerForRemoteNotifications(let request) = try await agent.next({ isRegistration($0) }) else {
            return
        }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.told.next() == "token ab")
        #expect(messaging.apnsToken == nil)
        messaging.apnsToken = Data([1])
        #expect(messaging.apnsToken == Data([1]))
    }

    @Test func `a token that is deleted is told again when there is another one`() async throws {
        let messaging = messaging()
        try await agent.welcome()
        let asked = try await agent.next { isRegistration($0) }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.told.next() == "token ab")
        try await deletion(messaging) { .accepted(request: $0) }
        #expect(messaging.fcmToken == nil)
        let token = Task { try await messaging.token() }
        guard case .registerForRemoteNotifications(let again) = try await agent.next({ isRegistration($0) }) else {
            return
        }
        try agent.say(.registered(request: again, token: String(repeating: "ef", count: 32)))
        #expect(try await token.value.hasPrefix("ef"))
        #expect(await app.told.next() == "token ef")
    }

    /// Deletes the token, which the agent answers so.
    private func deletion(_ messaging: Messaging, answer: (Int64) -> ChannelEvent) async throws {
        let told = Inbox<(any Error)?>()
        let isTold = Mutex(false)
        messaging.deleteToken { error in
            isTold.withLock { $0 = true }
            told.put(error)
        }
        let asked = try await agent.next { if case .unregisterForRemoteNotifications = $0 { true } else { false } }
        guard case .unregisterForRemoteNotifications(let request) = asked else { return }
        // What is sent after the wish and before its answer has no part in it.
        try agent.say(.registered(request: nil, token: String(repeating: "00", count: 32)))
        #expect(!isTold.withLock { $0 })
        try agent.say(.channel(answer(request)))
        if let error = await told.next() ?? nil { throw error }
    }

    @Test(arguments: [
        (ChannelFault.offline, MessagingError.Code.network), ("AUTHENTICATION_FAILED", .authentication),
        ("INVALID_SENDER", .unknown), (ChannelFault.tooMany, .operationInProgress),
    ])
    func `a deletion that failed says why`(code: String, meaning: MessagingError.Code) async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        try await agent.welcome()
        try await next(.ready)
        let error = await #expect(throws: MessagingError.self) {
            try await deletion(messaging) { .refused(request: $0, code: code, message: "No.") }
        }
        #expect(error?.code == meaning)
    }

    @Test func `who waits for a token that is deleted meanwhile is told`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        try await agent.welcome()
        try await next(.ready)
        let token = Task { try await messaging.token() }
        _ = try await agent.next { isRegistration($0) }
        try await deletion(messaging) { .accepted(request: $0) }
        await #expect(throws: MessagingError.self) { _ = try await token.value }
    }

    @Test func `data messages come in order while the channel is open, each once`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        messaging.shouldEstablishDirectChannel = true
        try await agent.welcome()
        try await next(.channel(.open))
        for message in [data(1, "a"), data(2, "b"), data(1, "a"), data(3, "again", message: "m2")] {
            try agent.say(message)
        }
        try await next(.channel(.taken(message: 3)))
        try agent.say(data(4, "c"))
        #expect(await app.told.next() == "m1 a")
        #expect(await app.told.next() == "m2 b")
        #expect(await app.told.next() == "m4 c")
    }

    @Test func `the channel is open in front only, and follows what the app says`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        try await agent.welcome(state: .background)
        messaging.shouldEstablishDirectChannel = true
        try await next(.ready)
        try agent.say(.enter(.active))
        try await next(.channel(.open))
        try agent.say(.enter(.background))
        try await next(.channel(.close))
        #expect(!messaging.isDirectChannelEstablished)
        try agent.say(.enter(.active))
        try await next(.channel(.open))
        messaging.shouldEstablishDirectChannel = false
        try await next(.channel(.close))
    }

    @Test func `a setting keeps the channel open in the background`() async throws {
        let messaging = messaging {
            $0.isAutoInitEnabled = false
            $0.opensInBackground = true
        }
        messaging.shouldEstablishDirectChannel = true
        try await agent.welcome(state: .background)
        try await next(.channel(.open))
    }

    @Test func `one that shows something and has data comes to both, once`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        messaging.shouldEstablishDirectChannel = true
        try await agent.welcome()
        try await next(.channel(.open))
        let payload = #"{"gcm.message_id":"m1","aps":{"alert":"Milk"},"k":"v"}"#
        try agent.say(.deliver(FakeAgent.notification(1, payload: payload), kind: .foregroundAndBackground))
        _ = try await agent.outcomes(of: 1)
        try agent.say(data(2, "w"))
        #expect(await app.told.next() == "m1 v")
        #expect(await app.told.next() == "m2 w")
        // It was noted for the app already.
        #expect(messaging.appDidReceiveMessage(["gcm.message_id": "m1"]).status == .unknown)
    }

    @Test(arguments: [true, false])
    func `what the app notes by hand counts once`(isProxyEnabled: Bool) async throws {
        let messaging = messaging {
            $0.isAutoInitEnabled = false
            $0.isProxyEnabled = isProxyEnabled
        }
        try await agent.welcome()
        try await next(.ready)
        let payload = #"{"gcm.message_id":"m1","aps":{"alert":"Milk"}}"#
        try agent.say(.deliver(FakeAgent.notification(1, payload: payload), kind: .foreground))
        _ = try await agent.outcomes(of: 1)
        let message: [AnyHashable: Any] = ["gcm.message_id": "m1"]
        #expect(messaging.appDidReceiveMessage(message).status == (isProxyEnabled ? .unknown : .new))
        #expect(messaging.appDidReceiveMessage(message).status == .unknown)
        #expect(messaging.appDidReceiveMessage([:]).status == .unknown)
        #expect(messaging.appDidReceiveMessage(["k": "v"]).status == .new)
    }

    @Test func `handling is automatic only where one object is every delegate`() {
        let other = NSObject()
        func handles(_ application: AnyObject?, _ center: AnyObject?) -> Bool {
            let messaging = Messaging(host: host, settings: FirebaseSettings(), delegates: { (application, center) })
            messaging.delegate = app
            return messaging.handlesAutomatically
        }
        #expect(handles(app, app))
        #expect(handles(nil, app))
        #expect(!handles(other, app))
        #expect(!handles(app, other))
        #expect(!handles(app, nil))
    }

    @Test func `before Firebase is configured nothing is asked, and completions get an error`() async {
        let messaging = Messaging(host: host, settings: FirebaseSettings(), delegates: { (nil, nil) })
        await #expect(throws: MessagingError.self) { _ = try await messaging.token() }
        await #expect(throws: MessagingError.self) { try await messaging.subscribe(toTopic: "news") }
    }

    @Test(
        arguments: [
            ("news", "news"), ("/topics/news-1_a.~%", "news-1_a.~%"), ("", nil), ("/topics/", nil), ("a b", nil),
            ("/topics//topics/x", nil), ("né", nil), (String(repeating: "a", count: 901), nil),
        ] as [(String, String?)])
    func `a topic's name is checked`(topic: String, name: String?) { #expect(Messaging.topicName(topic) == name) }

    @Test func `a topic is asked of the agent until it is answered`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        try await agent.welcome()
        let joined = Task { try await messaging.subscribe(toTopic: "/topics/news") }
        let asked = try await agent.next { if case .channel(.topic) = $0 { true } else { false } }
        guard case .channel(.topic(let request, "news", true)) = asked else {
            Issue.record("\(asked)")
            return
        }
        try agent.say(.channel(.accepted(request: request)))
        try await joined.value
        let left = Task { try await messaging.unsubscribe(fromTopic: "news") }
        let second = try await agent.next { if case .channel(.topic) = $0 { true } else { false } }
        guard case .channel(.topic(let number, "news", false)) = second else {
            Issue.record("\(second)")
            return
        }
        try agent.say(.channel(.refused(request: number, code: "TOO_MANY_TOPICS", message: "2000 are joined")))
        await #expect(throws: MessagingError.self) { try await left.value }
    }

    @Test func `without the messaging delegate data messages are not asked for unless the application takes them`()
        async throws
    {
        let messaging = Messaging(host: host, settings: FirebaseSettings(), delegates: { (nil, nil) })
        messaging.begin()
        messaging.shouldEstablishDirectChannel = true
        host.finishLaunch()
        try await agent.welcome()
        try await next(.ready)
        messaging.useMessagingDelegateForDirectChannel = false
        try await next(.channel(.open))
    }

    @Test func `the extension's helper fetches the message's image and nothing else`() {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.userInfo = [
            "fcm_options": ["image": "https://shop.example/milk.jpg"], "attachment-url": "https://shop.example/tea.jpg",
        ]
        let asked = Mutex<[String]>([])
        let service = FCMPictureService { request, answer in
            asked.withLock { $0.append(request.url) }
            answer(.failed(MediaFailure(.notFound, "it is not there")))
        }
        var title: String?
        service.didReceive(UNNotificationRequest(identifier: "r", content: content, trigger: nil)) { title = $0.title }
        #expect(title == "Milk", "whatever fails, it is shown")
        #expect(asked.withLock { $0 } == ["https://shop.example/milk.jpg"])
        content.userInfo = ["fcm_options": "none"]
        let isGivenBack = Mutex(false)
        MessagingExtensionHelper().populateNotificationContent(content) { _ in isGivenBack.withLock { $0 = true } }
        #expect(isGivenBack.withLock { $0 })
    }

    /// What is posted of a message, `success` or the error's code.
    private func ends(of id: String) -> (inbox: Inbox<String>, observers: [any NSObjectProtocol]) {
        let inbox = Inbox<String>()
        let observers = [Notification.Name.MessagingSendSuccess, .MessagingSendError].map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                guard notification.object as? String == id, notification.userInfo?["messageID"] as? String == id else {
                    return
                }
                let error = notification.userInfo?["error"] as? NSError
                inbox.put(error.map { "\($0.domain) \($0.code)" } ?? "success")
            }
        }
        return (inbox, observers)
    }

    @Test func `what became of a message to the provider is posted once`() async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        let (told, observers) = ends(of: "u1")
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        try await agent.welcome()
        messaging.sendMessage(
            ["item": "milk", "count": 2], to: "42@gcm.googleapis.com", withMessageID: "u1", timeToLive: 60)
        let asked = try await agent.next { if case .channel(.send) = $0 { true } else { false } }
        guard case .channel(.send(let request, let draft)) = asked else { return }
        #expect(
            draft
                == UpstreamDraft(
                    id: "u1", to: "42@gcm.googleapis.com", data: ["item": "milk", "count": "2"], timeToLive: 60))
        try agent.say(.channel(.accepted(request: request)))
        for _ in 1...2 {
            try agent.say(.channel(.ended(upstream: 7, id: "u1", code: nil)))
            try await next(.channel(.endTaken(upstream: 7)))
        }
        try agent.say(.channel(.ended(upstream: 8, id: "u1", code: ChannelFault.expired)))
        #expect(await told.next() == "success")
        #expect(await told.next() == "com.google.fcm 3")
    }

    @Test(arguments: [
        ("big", "42@gcm.googleapis.com", 4097), ("none", "", 1), (String(repeating: "i", count: 256), "42", 1),
    ])
    func `a message that may not be sent fails at once`(id: String, to: String, size: Int) async throws {
        let messaging = messaging { $0.isAutoInitEnabled = false }
        let (told, observers) = ends(of: id)
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        messaging.sendMessage(
            ["": String(repeating: "x", count: size)], to: to, withMessageID: id, timeToLive: 60)
        #expect(await told.next() == "com.google.fcm 7")
    }

    @Test func `that messages were deleted is posted, and confirmed`() async throws {
        _ = messaging { $0.isAutoInitEnabled = false }
        let told = Inbox<Int>()
        let observer = NotificationCenter.default.addObserver(
            forName: .MessagingMessagesDeleted, object: nil, queue: nil
        ) { told.put($0.userInfo?["count"] as? Int ?? 0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await agent.welcome()
        try await next(.ready)
        try agent.say(.messagesDeleted(deletion: 9, count: 100, since: 5))
        try await next(.deletionTaken(deletion: 9))
        #expect(await told.next() == 100)
    }
}
