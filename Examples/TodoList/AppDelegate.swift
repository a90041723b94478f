// A to-do list that a provider can add to: what an app of the kind that uses notifications looks like.
//
// Environment: TODOLIST_FILE keeps the items (else they live in memory); TODOLIST_APP_LOG gets the apns-id of every
// notification that the app is handed, one a line; TODOLIST_MENU, set to anything, shows the menu at the start.
import Course
import Firebase
import UIKit
import UserNotifications

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let list = TodoStore(path: ProcessInfo.processInfo.environment["TODOLIST_FILE"])
    private let answersPath = ProcessInfo.processInfo.environment["TODOLIST_FILE"].map { $0 + ".answers" }
    private lazy var answers = answersPath.flatMap { AppendedFile(path: $0) }
    private let log = HandoverLog(path: ProcessInfo.processInfo.environment["TODOLIST_APP_LOG"])

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.setNotificationCategories([TodoMenu.category, ItemQuestion.categoryDescription])
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, error in
            Terminal.say("authorization: \(error.map { "failed, \($0.localizedDescription)" } ?? "\(granted)")")
        }
        application.registerForRemoteNotifications()
        FirebaseApp.configure(options: FirebaseOptions(googleAppID: "todolist", gcmSenderID: "todolist"))
        Messaging.messaging().delegate = self
        Messaging.messaging().shouldEstablishDirectChannel = true
        let last = ChosenAnswer.last(in: answersPath)
        if let last { Terminal.say("last answer: \(last)") }
        if ProcessInfo.processInfo.environment["TODOLIST_MENU"] != nil {
            Task { await TodoMenu.show(items: list.items.count, last.map { "Last answer: \($0)" }) }
        }
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) { Terminal.say("in the background") }
    func applicationWillEnterForeground(_ application: UIApplication) { Terminal.say("in front again") }
    func applicationWillTerminate(_ application: UIApplication) { Terminal.say("ends") }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        Terminal.say("token: \(deviceToken.map { String(format: "%02x", $0) }.joined())")
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {
        Terminal.say("no token: \(error.localizedDescription)")
    }

    func application(
        _ application: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
    ) -> Bool {
        Terminal.say("open \(url)")
        return true
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let name = userInfo["aldaba.apns-id"] as? String ?? "?"
        Terminal.say("background \(name)")
        log.handedInBackground(name)
        let added = list.add(from: userInfo, fallback: nil, name: name)
        completionHandler(added ? .newData : .noData)
    }
}

extension AppDelegate: UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        Terminal.say("willPresent \(notification.name)")
        // What the list itself shows is no item of it.
        guard !notification.isOfTheList else { return [.banner, .list, .sound] }
        log.handedInForeground(notification.name)
        add(from: notification)
        await remind(of: notification)
        return [.banner, .list, .sound]
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        let name = response.notification.name
        Terminal.say("didReceive \(response.actionIdentifier) \(name)")
        guard !response.notification.isOfTheList else { return await answer(response) }
        log.answered(name)
        if let link = response.aldabaLink {
            let isOpened = await UIApplication.shared.open(link)
            Terminal.say("link \(isOpened ? "opened" : "not opened")")
        }
        add(from: response.notification)
    }

    /// Does what a person asks of the menu, or keeps what they answer to a question; then the menu is there again.
    private func answer(_ response: UNNotificationResponse) async {
        let choice = Choice(response)
        let content = response.notification.request.content
        var sentence: String?
        if content.categoryIdentifier == TodoMenu.identifier {
            switch TodoMenu.wish(choice) {
            case .ask: return await ItemQuestion.ask(about: list.items.last?.title ?? "Write a list")
            case .remind(let time): sentence = await ListReminder.set(time)
            case .noTime(let text): sentence = "“\(text)” is no time of day; write it as in 18:30"
            case .nothing: break
            }
        } else if let item = content.userInfo["item"] as? String,
            let answer = ItemQuestion.answer(choice, about: item)
        {
            answer.append(to: answers)
            Terminal.say("answer: \(answer)")
            sentence = "Answer: \(answer)"
        }
        await TodoMenu.show(items: list.items.count, sentence)
    }

    /// A provider can ask for a reminder, too: `remindIn` seconds later, whether this app runs then or not.
    private func remind(of notification: UNNotification) async {
        guard let seconds = notification.request.content.userInfo["remindIn"] as? Double, seconds > 0 else { return }
        let content = UNMutableNotificationContent()
        content.title = "Still to do: \(notification.request.content.title)"
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: false)
        let request = UNNotificationRequest(
            identifier: "reminder \(notification.name)", content: content, trigger: trigger)
        do {
            try await UNUserNotificationCenter.current().add(request)
            Terminal.say("reminder at \(trigger.nextTriggerDate().map(String.init(describing:)) ?? "no time")")
        } catch {
            Terminal.say("no reminder: \(error.localizedDescription)")
        }
    }

    private func add(from notification: UNNotification) {
        let content = notification.request.content
        let text = [content.title, content.body].filter { !$0.isEmpty }.joined(separator: ": ")
        list.add(from: content.userInfo, fallback: text.isEmpty ? nil : text, name: notification.name)
    }
}

extension AppDelegate: MessagingDelegate {
    func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
        Terminal.say("data message \(remoteMessage.messageID)")
        log.handedInBackground(remoteMessage.messageID)
        list.add(from: remoteMessage.appData, fallback: nil, name: remoteMessage.messageID)
    }
}

extension UNNotification {
    /// What the provider knows the notification by.
    fileprivate var name: String { aldabaAPNsID ?? request.identifier }

    /// Whether the list shows it by itself. A provider's may have any category.
    fileprivate var isOfTheList: Bool {
        !(request.trigger is UNPushNotificationTrigger)
            && [TodoMenu.identifier, ItemQuestion.category, ListReminder.category].contains(
                request.content.categoryIdentifier)
    }
}
