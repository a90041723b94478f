import AgentProtocol
import Testing

@testable import AppHost

/// The session of a service extension's process.
struct AppSessionExtensionTests {
    private let notification = DeliveredNotification(
        id: 5, identifier: "x", apnsID: nil, topic: "com.example.todo", date: 0, payload: "{}")

    private func welcomed() -> AppSession {
        var session = AppSession(app: "com.example.todo", role: .serviceExtension, run: "r", place: "/s")
        _ = session.handle(.started, now: .zero)
        _ = session.handle(.connected, now: .zero)
        _ = session.handle(.received(.welcome(.init(state: .background, authorization: 2))), now: .zero)
        return session
    }

    @Test func `it says its role`() {
        var session = AppSession(app: "com.example.todo", role: .serviceExtension, run: "r", place: "/s")
        _ = session.handle(.started, now: .zero)
        #expect(
            session.handle(.connected, now: .zero) == [
                .send(.hello(version: 1, app: "com.example.todo", secret: nil, run: "r", role: .serviceExtension))
            ])
    }

    @Test func `what it is handed goes to the extension, and the answer back`() {
        var session = welcomed()
        #expect(session.handle(.received(.extend(notification)), now: .zero) == [.extend(notification)])
        #expect(session.handle(.received(.expire(notification: 5)), now: .zero) == [.expire(5)])
        let answer = AppMessage.extended(notification: 5, content: nil)
        #expect(session.handle(.extensionAnswered(answer), now: .zero) == [.send(answer)])
    }

    @Test func `an answer that nobody can hear any more is dropped`() {
        var session = welcomed()
        _ = session.handle(.disconnected(reason: nil, jitter: 0), now: .zero)
        #expect(session.handle(.extensionAnswered(.extended(notification: 5, content: nil)), now: .zero) == [])
    }

    @Test(arguments: ["serviceExtension", "app", "", "other"])
    func `the role is the environment's`(name: String) {
        let configuration = AppHostConfiguration(
            environment: ["ALDABA_ROLE": name], executable: "/x", readFile: { _ in nil })
        #expect(configuration.role == (name.isEmpty ? .app : ConnectionRole(name: name)))
    }
}
