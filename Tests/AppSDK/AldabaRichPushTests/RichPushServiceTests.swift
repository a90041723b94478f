import AgentProtocol
import AldabaTestSupport
import Foundation
import Synchronization
import Testing

@testable import AldabaRichPush
@testable import UserNotifications

/// What a test hears of a service: what it asks for, and what it gives back.
private final class Heard: Sendable {
    typealias Answer = @Sendable (MediaAnswer) -> Void
    let requests = Mutex<[(MediaRequest, Answer)]>([])
    let given = Mutex<[NotificationContent]>([])
    let failures = Mutex<[String]>([])

    func answer(_ place: Int, _ answer: MediaAnswer) { requests.withLock { $0[place].1 }(answer) }
}

private final class ListeningService: RichPushService {
    private let heard: Heard

    init(_ heard: Heard) {
        self.heard = heard
        super.init(fetch: { request, answer in heard.requests.withLock { $0.append((request, answer)) } })
    }

    required init() { fatalError("made by tests alone") }

    override func mediaFailed(_ media: PayloadMedia, _ failure: MediaFailure) {
        heard.failures.withLock { $0.append("\(media.url) \(failure.code)") }
    }
}

struct RichPushServiceTests {
    private let folder: TemporaryFolder
    private let heard = Heard()

    init() throws { folder = try TemporaryFolder() }

    private func receive(_ userInfo: [AnyHashable: Any]) -> RichPushService {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.userInfo = userInfo
        let service = ListeningService(heard)
        let heard = heard
        service.didReceive(UNNotificationRequest(identifier: "r", content: content, trigger: nil)) { given in
            let values = (try? given.values.forWire()) ?? NotificationContent()
            heard.given.withLock { $0.append(values) }
        }
        return service
    }

    private func file(_ name: String) throws -> MediaAnswer {
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path(name)))
        return .file(path: folder.path(name))
    }

    private var given: [NotificationContent] { heard.given.withLock { $0 } }

    private let two: [AnyHashable: Any] = [
        "att": ["a": "https://e.example/a", "b": "https://e.example/b"], "aldaba": ["fetch-spread": 4],
    ]

    @Test func `without media the notification comes back at once, as it came`() {
        _ = receive(["ab": 7])
        #expect(given.map(\.title) == ["Milk"])
        #expect(heard.requests.withLock { $0.isEmpty })
    }

    @Test func `what came is attached in its order, once all have answered`() throws {
        let service = receive(two)
        #expect(
            heard.requests.withLock { $0.map(\.0) } == [
                MediaRequest(url: "https://e.example/a", spread: 4),
                MediaRequest(url: "https://e.example/b", spread: 4),
            ])
        heard.answer(1, try file("b.mp3"))
        #expect(given.isEmpty)
        heard.answer(0, try file("a.png"))
        #expect(given.first?.attachments.map(\.identifier) == ["a", "b"])
        #expect(given.first?.attachments.map(\.type) == ["public.png", "public.mp3"])
        // The end of the time, and a late answer, give nothing back again.
        service.serviceExtensionTimeWillExpire()
        heard.answer(0, try file("late.png"))
        #expect(given.count == 1)
    }

    @Test func `whatever fails, the text comes back, and why is told`() throws {
        _ = receive(two)
        heard.answer(0, .failed(MediaFailure(.notFound, status: 404, "no")))
        heard.answer(1, try file("b.gif"))
        #expect(given.map(\.title) == ["Milk"])
        #expect(given.first?.attachments.count == 1)
        #expect(heard.failures.withLock { $0 } == ["https://e.example/a notFound(404)"])
    }

    @Test func `a file that cannot be attached is a failure as any other`() throws {
        _ = receive(["attachment-url": "https://e.example/a"])
        heard.answer(0, .file(path: folder.path("missing.png")))
        #expect(given.first?.attachments.isEmpty == true)
        #expect(heard.failures.withLock { $0 } == ["https://e.example/a notMedia"])
    }

    @Test func `when the time is over, what has come by then is shown`() throws {
        let service = receive(two)
        heard.answer(1, try file("b.png"))
        service.serviceExtensionTimeWillExpire()
        #expect(given.first?.attachments.map(\.identifier) == ["b"])
        heard.answer(0, try file("a.png"))
        #expect(given.count == 1)
    }

    @Test func `a time that ends before anything began ends nothing`() {
        ListeningService(heard).serviceExtensionTimeWillExpire()
        #expect(given.isEmpty)
    }
}
