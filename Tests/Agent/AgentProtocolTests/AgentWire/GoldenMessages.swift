import AgentProtocol
import AldabaTestSupport
import Foundation

/// The messages that the files in `Fixtures/agentwire` hold, by file name.
enum GoldenMessages {
    static let notification = DeliveredNotification(
        id: 9_007_199_254_740_993, identifier: "chat-7", apnsID: "4d1c3f60-2f0a-4b0e-9a57-0c9f4f7c2b11",
        topic: "com.example.todo", date: 1_790_000_000_000,
        payload: #"{"aps":{"alert":"Grüße / ✓"},"todo":"milk"}"#)
    static let plain = DeliveredNotification(
        id: 2, identifier: "x", apnsID: nil, topic: "t", date: -1, payload: "{}")

    static let request: NotificationRequest = {
        var content = NotificationContent()
        content.title = "Milk"
        content.bodyLocalization = .init(key: "BUY_%@", arguments: ["2"])
        content.badge = 3
        content.sound = NotificationSound(name: "bell.wav", isCritical: true, volume: 0.5)
        content.userInfo = .json(#"{"todo":7}"#)
        content.attachments = [
            NotificationAttachment(
                identifier: "photo", path: "/tmp/milk.png", type: "public.png", hidesThumbnail: false,
                thumbnailClippingRect: [0, 0, 0.5, 1], thumbnailTime: 1.5)
        ]
        content.categoryIdentifier = "todo"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.25
        return NotificationRequest(
            identifier: "milk", content: content, trigger: .timeInterval(seconds: 90, repeats: true))
    }()
    static let timed: NotificationRequest = {
        var fields = DateComponents(
            calendar: Calendar(identifier: .chinese), timeZone: TimeZone(identifier: "Europe/Berlin"), month: 6,
            day: 10,
            hour: 9)
        fields.calendar?.locale = Locale(identifier: "de_DE")
        fields.isLeapMonth = true
        return NotificationRequest(
            identifier: "feast", content: greeting, trigger: .calendar(fields, repeats: true))
    }()
    static let placed = NotificationRequest(
        identifier: "home", content: greeting,
        trigger: .region(
            .init(identifier: "home", latitude: 52.5, longitude: 13.25, radius: 100, onEntry: true, onExit: false),
            repeats: false))
    static let local = DeliveredNotification(
        id: -4, identifier: "milk", apnsID: nil, topic: "com.example.todo", date: 1_790_000_000_000, payload: "{}",
        content: request.content, trigger: request.trigger)
    static let category = NotificationCategory(
        identifier: "todo",
        actions: [
            NotificationActionDescription(
                identifier: "done", title: "Done", options: 1, icon: .init(name: "checkmark", isTemplate: false)),
            NotificationActionDescription(
                identifier: "later", title: "Later", textInput: .init(buttonTitle: "Send", placeholder: "When?")),
        ], options: 1, hiddenPreviewsBodyPlaceholder: "A to-do item", categorySummaryFormat: "%u more")

    /// An activity, whose content is stale from ten minutes on.
    static let activity = LiveActivity(
        id: "00112233445566778899aabbccddeeff", attributesType: "DeliveryAttributes",
        attributes: #"{"order":"A-7"}"#,
        content: LiveActivityContent(state: #"{"stop":1}"#, staleDate: 1_790_000_600_000, relevanceScore: 0.5))
    static let nextStop = LiveActivityContent(state: #"{"stop":2}"#)

    static let greeting: NotificationContent = {
        var content = NotificationContent()
        content.title = "Hello"
        return content
    }()
    static let halfway: NotificationContent = {
        var content = greeting
        content.progress = 0.5
        return content
    }()
    static let status = AgentStatus(
        process: 17, device: "42", isConnected: true, hasScreen: false,
        apps: [
            .init(
                id: "com.example.todo", name: "Todo", isConnected: true, authorization: 2, listed: 3, badge: 1,
                extensions: [.init(version: "1.0", outcomes: ["changed": 4, "timedOut": 1])])
        ])

    static let fromApp: [(file: String, message: AppMessage)] = [
        ("hello", .hello(version: 1, app: "com.example.todo", secret: "s3")),
        ("hello-with-run", .hello(version: 1, app: "com.example.todo", secret: nil, run: "9f3c")),
        (
            "hello-serviceExtension",
            .hello(version: 1, app: "com.example.todo", secret: nil, role: .serviceExtension)
        ),
        ("hello-relayService", .hello(version: 1, app: "com.example.todo", secret: nil, role: .relayService)),
        ("hello-terminal", .hello(version: 1, app: "com.example.todo", secret: nil, role: .terminal)),
        ("hello-without-secret", .hello(version: 1, app: "com.example.todo", secret: nil)),
        ("requestAuthorization", .requestAuthorization(request: 1, options: 7)),
        ("registerForRemoteNotifications", .registerForRemoteNotifications(request: 2)),
        ("unregisterForRemoteNotifications", .unregisterForRemoteNotifications(request: 3)),
        ("getSettings", .getSettings(request: 4)),
        ("ready", .ready),
        ("handled-presented", .handled(notification: 9_007_199_254_740_993, outcome: .presented(options: 26))),
        ("handled-notPresented", .handled(notification: 5, outcome: .notPresented)),
        ("handled-background", .handled(notification: 5, outcome: .background(.noData))),
        ("responseHandled", .responseHandled(response: 6)),
        ("channel-open", .channel(.open)),
        ("channel-close", .channel(.close)),
        ("channel-taken", .channel(.taken(message: 9_007_199_254_740_993))),
        (
            "channel-send",
            .channel(
                .send(
                    request: 17,
                    UpstreamDraft(
                        id: "m1", to: "42@gcm.googleapis.com", data: ["item": "milk"], timeToLive: 60)))
        ),
        ("channel-endTaken", .channel(.endTaken(upstream: 3))),
        ("channel-topic", .channel(.topic(request: 18, name: "news", joins: true))),
        ("activity-observe", .activity(.observe)),
        (
            "activity-start",
            .activity(.start(request: 21, activity, .channel("AAECAwQFBgcICQoLDA0ODw==")))
        ),
        ("activity-start-token", .activity(.start(request: 22, activity, .token))),
        ("activity-update", .activity(.update(request: 23, id: activity.id, nextStop, nil))),
        (
            "activity-update-alert",
            .activity(
                .update(
                    request: 24, id: activity.id, nextStop,
                    LiveActivityAlert(
                        title: "Milk", body: "Two stops away", sound: NotificationSound(name: "bell.wav"))))
        ),
        ("activity-end", .activity(.end(request: 25, id: activity.id, nextStop, .after(1_790_003_600_000)))),
        ("activity-end-plain", .activity(.end(request: 26, id: activity.id, nil, .standard))),
        ("activity-end-immediate", .activity(.end(request: 27, id: activity.id, nil, .immediate))),
        ("deletionTaken", .deletionTaken(deletion: 9_007_199_254_740_993)),
        ("stateChanged", .stateChanged(.inactive)),
        ("center-add", .center(request: 7, .add(request))),
        ("center-add-calendar", .center(request: 7, .add(timed))),
        ("center-add-region", .center(request: 7, .add(placed))),
        ("center-pending", .center(request: 8, .pending)),
        ("center-removePending", .center(request: 9, .removePending(["milk", "bread"]))),
        ("center-removePending-all", .center(request: 9, .removePending(nil))),
        ("center-delivered", .center(request: 10, .delivered)),
        ("center-removeDelivered", .center(request: 11, .removeDelivered([]))),
        ("center-setCategories", .center(request: 12, .setCategories([category]))),
        ("center-categories", .center(request: 13, .categories)),
        ("center-badge", .center(request: 14, .badge)),
        (
            "fetch",
            .fetch(
                request: 15, MediaRequest(url: "https://example.com/milk.jpg", typeHint: "jpg", spread: 12.5))
        ),
        ("fetch-plain", .fetch(request: 16, MediaRequest(url: "https://example.com/milk"))),
        ("open", .open(request: 19, url: "https://example.com/bread")),
        ("open-trial", .open(request: 20, url: "todo://list/4", isTrial: true)),
        ("center-setBadge", .center(request: 14, .setBadge(0))),
        ("manage-status", .manage(request: 1, .status)),
        ("manage-list", .manage(request: 2, .list(app: "com.example.todo"))),
        ("manage-threads", .manage(request: 8, .threads(app: "com.example.todo"))),
        ("manage-pending", .manage(request: 9, .pending(app: nil, after: nil))),
        (
            "manage-pending-after",
            .manage(
                request: 9,
                .pending(app: "com.example.todo", after: PendingOrder(deadline: 1_800_000_000_000, key: 7)))
        ),
        ("manage-cancel", .manage(request: 10, .cancel(app: "com.example.todo", identifiers: ["tea"]))),
        ("manage-show", .manage(request: 9, .show(notification: -4))),
        ("manage-act", .manage(request: 3, .act(notification: -4, action: "reply", text: "soon"))),
        ("manage-dismiss", .manage(request: 4, .dismiss(notification: 2))),
        ("manage-settings", .manage(request: 5, .settings(app: "com.example.todo"))),
        ("manage-set", .manage(request: 6, .set(app: "com.example.todo", values: ["sounds": "off"]))),
        ("manage-enter", .manage(request: 8, .enter(app: "com.example.todo", .background))),
        ("manage-openSettings", .manage(request: 8, .openSettings(app: "com.example.todo"))),
        (
            "manage-notify",
            .manage(request: 7, .notify(NotificationRequest(identifier: "a", content: greeting), waits: true))
        ),
        ("extended", .extended(notification: 9_007_199_254_740_993, content: greeting)),
        ("extended-unchanged", .extended(notification: 5, content: nil)),
        ("extended-progress", .extended(notification: 9_007_199_254_740_993, content: halfway)),
        ("extensionFailed", .extensionFailed(notification: 5, message: "The content cannot be sent.")),
    ]

    static let fromAgent: [(file: String, message: AgentMessage)] = [
        (
            "welcome",
            .welcome(.init(version: 1, state: .background, authorization: 2, launchNotification: notification))
        ),
        ("welcome-plain", .welcome(.init(version: 1, state: .active, authorization: 0))),
        ("refused", .refused(version: 1, code: "unknownApp", message: "Install it first.")),
        ("authorizationAnswered", .authorizationAnswered(request: 1, granted: true)),
        (
            "authorizationAnswered-reason",
            .authorizationAnswered(request: 1, granted: false, reason: "Nobody is there.")
        ),
        ("registered", .registered(request: 2, token: "00ff")),
        ("registered-unasked", .registered(request: nil, token: "00ff")),
        ("registrationFailed", .registrationFailed(request: 2, code: "unreachable", message: "No server.")),
        (
            "settings",
            .settings(
                request: 4,
                NotificationSettings(
                    authorizationStatus: 2, alertSetting: 2, soundSetting: 2, badgeSetting: 1,
                    notificationCenterSetting: 2, alertStyle: 1))
        ),
        ("deliver", .deliver(notification, kind: .foregroundAndBackground)),
        ("deliver-call", .deliver(notification, kind: .call)),
        ("respond", .respond(response: 8, notification: plain, action: "reply", userText: "on my way")),
        ("respond-plain", .respond(response: 8, notification: plain, action: "open", userText: nil)),
        ("handledConfirmed", .handledConfirmed(notifications: [5, 9_007_199_254_740_993])),
        ("responsesConfirmed", .responsesConfirmed(responses: [8])),
        ("centerAnswered-done", .centerAnswered(request: 7, .done)),
        ("centerAnswered-failed", .centerAnswered(request: 7, .failed(code: 1, message: "not allowed"))),
        ("centerAnswered-pending", .centerAnswered(request: 8, .pending([request]))),
        ("centerAnswered-delivered", .centerAnswered(request: 10, .delivered([local, plain]))),
        ("centerAnswered-categories", .centerAnswered(request: 13, .categories([category]))),
        ("centerAnswered-badge", .centerAnswered(request: 14, .badge(12))),
        ("managed-done", .managed(request: 6, .done)),
        ("managed-failed", .managed(request: 6, .failed(message: "no such app"))),
        ("managed-status", .managed(request: 1, .status(status))),
        (
            "managed-list",
            .managed(
                request: 2,
                .list([ListedNotification(appName: "Todo", notification: plain, content: greeting, actions: [])]))
        ),
        (
            "managed-threads",
            .managed(
                request: 8,
                .threads([
                    NotificationThread(
                        thread: "shop", count: 3,
                        newest: ListedNotification(
                            appName: "Todo", notification: plain, content: greeting, actions: []),
                        others: "2 more")
                ]))
        ),
        (
            "managed-pending",
            .managed(
                request: 9,
                .pending(
                    [
                        PendingNotification(
                            app: "com.example.todo", appName: "Todo", content: greeting, identifier: "tea",
                            times: [1_800_000_000_000, 1_800_086_400_000], offsets: [3600, 7200],
                            reason: "whenever hour=9", fired: 2)
                    ], next: nil))
        ),
        (
            "managed-pending-next",
            .managed(request: 9, .pending([], next: PendingOrder(deadline: nil, key: 7)))
        ),
        (
            "managed-settings",
            .managed(request: 5, .settings([.init(name: "sounds", value: "on", allowed: ["on", "off"])]))
        ),
        ("managed-answered", .managed(request: 7, .answered(action: "reply", text: "soon"))),
        ("fetched", .fetched(request: 15, .file(path: "/home/ann/.local/state/aldaba/media/handed/t/1.jpg"))),
        (
            "fetched-failed",
            .fetched(
                request: 16,
                .failed(MediaFailure(.notFound, status: 404, "https://example.com answered 404 and not with a file")))
        ),
        ("opened", .opened(request: 19, .opened)), ("opened-own", .opened(request: 20, .own)),
        ("opened-refused", .opened(request: 21, .refused("addresses of the scheme file are never opened"))),
        ("enter", .enter(.active)),
        ("openSettings", .openSettings(plain)),
        (
            "messagesDeleted",
            .messagesDeleted(deletion: 9_007_199_254_740_993, count: 100, since: 1_800_000_000_000)
        ),
        ("openSettings-plain", .openSettings(nil)),
        ("channel-state", .channel(.state(isConnected: true))),
        ("channel-message", .channel(.message(plain))),
        ("channel-takenConfirmed", .channel(.takenConfirmed(messages: [1, 9_007_199_254_740_993]))),
        ("channel-accepted", .channel(.accepted(request: 17))),
        ("channel-refused", .channel(.refused(request: 17, code: "MessageTooBig", message: "4097 bytes"))),
        ("channel-ended", .channel(.ended(upstream: 3, id: "m1", code: nil))),
        ("channel-ended-failed", .channel(.ended(upstream: 4, id: "m2", code: "TtlExceeded"))),
        (
            "activity-all",
            .activity(
                .all(
                    [
                        LiveActivity(
                            id: activity.id, attributesType: activity.attributesType,
                            attributes: activity.attributes, content: activity.content, state: .stale,
                            pushToken: "00ff")
                    ], startToken: "00aa"))
        ),
        ("activity-all-plain", .activity(.all([], startToken: nil))),
        (
            "activity-changed",
            .activity(
                .changed(
                    LiveActivity(
                        id: activity.id, attributesType: activity.attributesType, attributes: activity.attributes,
                        content: activity.content, state: .dismissed)))
        ),
        ("activity-startToken", .activity(.startToken("00aa"))),
        ("activity-accepted", .activity(.accepted(request: 21))),
        (
            "activity-refused",
            .activity(.refused(request: 21, code: ActivityFault.tooMany, message: "Eight are shown."))
        ),
        ("extend", .extend(notification)),
        ("expire", .expire(notification: 9_007_199_254_740_993)),
        ("relay", .relay(RelayPacket([0xa1, 0x61, 0x76, 0xff]))),
    ]

    /// The bytes of one file, without its last line feed.
    static func bytes(_ file: String) throws -> [UInt8] {
        let data = try Data(contentsOf: folder.appendingPathComponent("\(file).json"))
        return Array(data.last == 0x0A ? data.dropLast() : data)
    }

    static let folder = Repository.fixture("agentwire")
}
