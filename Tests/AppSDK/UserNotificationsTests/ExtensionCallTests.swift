import AgentProtocol
import AldabaTestSupport
import AppHost
import Foundation
import Synchronization
import Testing

@testable import UserNotifications

/// What the next extension of a test does with its calls.
private final class Play: Sendable {
    static let current = Mutex<Play?>(nil)
    let received = Inbox<Bool>()
    let expired = Inbox<Bool>()
    let answers: @Sendable (UNMutableNotificationContent, (UNNotificationContent) -> Void) -> Void

    init(_ answers: @escaping @Sendable (UNMutableNotificationContent, (UNNotificationContent) -> Void) -> Void) {
        self.answers = answers
    }
}

private final class PlayedExtension: UNNotificationServiceExtension {
    private let play = Play.current.withLock { $0 }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        play?.received.put(Thread.isMainThread)
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
        play?.answers(content, contentHandler)
    }

    override func serviceExtensionTimeWillExpire() { play?.expired.put(Thread.isMainThread) }
}

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ExtensionCallTests {
    private let request: UNNotificationRequest = {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.userInfo = ["aps": ["alert": "Milk"]]
        return UNNotificationRequest(identifier: "r", content: content, trigger: nil)
    }()

    private func answers(
        _ answers: @escaping @Sendable (UNMutableNotificationContent, (UNNotificationContent) -> Void) -> Void
    ) async -> [ExtensionAnswer] {
        let play = Play(answers)
        Play.current.withLock { $0 = play }
        let given = Inbox<ExtensionAnswer>()
        let call = ExtensionCall(PlayedExtension.self) { given.put($0) }
        call.begin(request)
        #expect(await play.received.next() == false, "not on the main thread")
        call.expire()
        // The queue has both by then, and what the first did is done.
        #expect(await play.expired.next() == false)
        let first = await given.next()
        given.finish()
        var all = [first].compactMap(\.self)
        while let next = await given.next() { all.append(next) }
        return all
    }

    @Test func `the first content counts, as it was when it was given`() async {
        let given = await answers { content, handler in
            content.title = "Fresh milk"
            handler(content)
            content.title = "Later"
            handler(content)
        }
        guard case .changed(let content)? = given.first else {
            Issue.record("\(given)")
            return
        }
        #expect((given.count, content.title) == (1, "Fresh milk"))
        #expect(content.userInfo == .json(#"{"aps":{"alert":"Milk"}}"#))
    }

    @Test func `the defaults of the app's groups are read anew before an extension gets the next notification`() async {
        await #expect(processExitsWith: .success) {
            let group = "group.aldaba-\(UUID().uuidString)"
            setenv("ALDABA_APP_GROUPS", group, 1)
            let folder = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
            let file = URL(fileURLWithPath: "\(folder)/\(group).plist")
            defer { try? FileManager.default.removeItem(at: file) }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for count in 1...3 {
                // The app is another process: it writes the file.
                try PropertyListSerialization.data(fromPropertyList: ["unread": count], format: .xml, options: 0)
                    .write(to: file)
                let read = Inbox<Int>()
                let play = Play { _, _ in read.put(UserDefaults(suiteName: group)?.integer(forKey: "unread") ?? -1) }
                Play.current.withLock { $0 = play }
                let content = UNMutableNotificationContent()
                content.title = "Milk"
                ExtensionCall(PlayedExtension.self) { _ in }
                    .begin(UNNotificationRequest(identifier: "r", content: content, trigger: nil))
                #expect(await read.next() == count)
            }
        }
    }

    @Test func `what is equal to the original is no change`() async {
        #expect(await answers { content, handler in handler(content) } == [.unchanged])
    }

    @Test func `what no message can carry says why`() async {
        let given = await answers { content, handler in
            content.userInfo = ["date": Date(), "nothing": NSNull()]
            handler(content)
        }
        guard case .unsendable(let reason)? = given.first else {
            Issue.record("\(given)")
            return
        }
        #expect(reason.contains("userInfo"))
    }
}
