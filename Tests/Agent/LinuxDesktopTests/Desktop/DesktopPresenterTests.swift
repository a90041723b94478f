import AgentEngine
import Foundation
import Logging
import PushCore
import Testing

@testable import LinuxDesktop

/// A real notification server on a screen and a bus of the test's own.
@Suite(.enabled(if: DesktopSession.isPossible), .timeLimit(.minutes(5)), .serialized)
struct DesktopPresenterTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    private func present(_ presentation: Presentation, on presenter: DesktopPresenter) async -> PresentationOutcome {
        await withCheckedContinuation { continuation in
            presenter.present(presentation) { continuation.resume(returning: $0) }
        }
    }

    /// A presenter on the session's bus, and what it tells of its notifications.
    private func start(
        _ session: DesktopSession, shown: [ShownPresentation] = []
    ) throws -> (DesktopPresenter, AsyncStream<PresenterEvent>) {
        let presenter = try #require(DesktopPresenter(address: session.address, logger: logger))
        let (stream, continuation) = AsyncStream.makeStream(of: PresenterEvent.self)
        presenter.start(shown: shown) { event in
            switch event {
            case .locked, .shownAgain: return
            default: break
            }
            continuation.yield(event)
        }
        return (presenter, stream)
    }

    @Test func `dunst shows a notification and its action opens it`() async throws {
        let session = try DesktopSession()
        let (presenter, stream) = try start(session)
        var events = stream.makeAsyncIterator()
        guard case .presented(let handle?, let note?) = await present(presentation(1), on: presenter) else {
            Issue.record("not shown")
            return
        }
        #expect(note.hasPrefix("dunst"))
        #expect(handle.hasPrefix(":1."))
        #expect(try session.dunstctl("count", "displayed") == "1")
        try session.dunstctl("action", "0")
        let event = await events.next()
        #expect(event == .opened(id(1), activationToken: nil))
        presenter.stop()
    }

    @Test func `the same identifier is one popup, and closing it is a dismissal`() async throws {
        let session = try DesktopSession()
        let (presenter, stream) = try start(session)
        var events = stream.makeAsyncIterator()
        _ = await present(presentation(1, identifier: "a"), on: presenter)
        _ = await present(presentation(2, identifier: "a"), on: presenter)
        #expect(await events.next() == .left(id(1)))
        #expect(try session.dunstctl("count", "displayed") == "1")
        try session.dunstctl("close")
        #expect(await events.next() == .dismissed(id(2)))
        presenter.stop()
    }

    @Test func `a new presenter replaces in place what an earlier one showed`() async throws {
        let session = try DesktopSession()
        let (first, _) = try start(session)
        guard case .presented(let handle?, _) = await present(presentation(1, identifier: "a"), on: first) else {
            Issue.record("not shown")
            return
        }
        first.stop()
        let shown = ShownPresentation(presentation: presentation(1, identifier: "a"), handle: handle)
        let (second, stream) = try start(session, shown: [shown])
        var events = stream.makeAsyncIterator()
        _ = await present(presentation(2, identifier: "a"), on: second)
        #expect(await events.next() == .left(id(1)))
        #expect(try session.dunstctl("count", "displayed") == "1")
        second.stop()
    }

    @Test func `when the server was restarted everything is shown again`() async throws {
        let session = try DesktopSession()
        let (presenter, stream) = try start(session)
        var events = stream.makeAsyncIterator()
        _ = await present(presentation(1), on: presenter)
        kill(try #require(try session.processOfServer()), SIGKILL)
        // The next call makes the bus start a new server; what comes after that call comes after what is shown again.
        for number in [2, 3] as [Int64] {
            let outcome = await present(presentation(number), on: presenter)
            guard case .presented = outcome else {
                Issue.record("\(number) is not shown: \(outcome)")
                return
            }
        }
        try session.dunstctl("close-all")
        let closed = [await events.next(), await events.next(), await events.next()]
        #expect(Set(closed) == [.dismissed(id(1)), .dismissed(id(2)), .dismissed(id(3))])
        presenter.stop()
    }

    @Test func `what is asked for twice at once is shown once, and both are told`() async throws {
        let session = try DesktopSession()
        let (presenter, _) = try start(session)
        let (outcomes, continuation) = AsyncStream.makeStream(of: PresentationOutcome.self)
        for _ in 0..<2 { presenter.present(presentation(1)) { continuation.yield($0) } }
        var answers = outcomes.makeAsyncIterator()
        let first = await answers.next()
        guard case .presented? = first else {
            Issue.record("not shown: \(String(describing: first))")
            return
        }
        #expect(await answers.next() == first)
        #expect(try session.dunstctl("count", "displayed") == "1")
        presenter.stop()
    }

    /// Held by a completion, so that its end is noticed, called or not.
    private final class Answers: Sendable {
        let continuation: AsyncStream<PresentationOutcome>.Continuation

        init(_ continuation: AsyncStream<PresentationOutcome>.Continuation) { self.continuation = continuation }
        deinit { continuation.finish() }
    }

    @Test func `what was not answered before the stop stays unanswered, for a later run to ask again`() async throws {
        // It never takes the name, so calls wait for it.
        let session = try DesktopSession(server: "/bin/sleep 5")
        let (presenter, _) = try start(session)
        let (outcomes, continuation) = AsyncStream.makeStream(of: PresentationOutcome.self)
        presenter.present(presentation(1)) { [answers = Answers(continuation)] in answers.continuation.yield($0) }
        presenter.stop()
        #expect(await outcomes.reduce(into: []) { $0.append($1) } == [])
    }

    @Test func `without a server the reason is given`() async throws {
        let session = try DesktopSession(server: nil)
        let (presenter, _) = try start(session)
        let outcome = await present(presentation(1), on: presenter)
        #expect(outcome == .failed(reason: "no notification server runs on the session bus"))
        presenter.stop()
    }

    @Test func `when the bus is gone the reason is given`() async throws {
        let session = try DesktopSession()
        let (presenter, _) = try start(session)
        _ = await present(presentation(1), on: presenter)
        session.endBus()
        guard case .failed = await present(presentation(2), on: presenter) else {
            Issue.record("shown on a bus that is gone")
            return
        }
        presenter.stop()
    }

    @Test func `an app that no service file names cannot be activated, nor one on a bus that ends`() async throws {
        let session = try DesktopSession(server: nil, services: ["com.example.slow": "/bin/sleep 60"])
        let (presenter, _) = try start(session)
        func activate(_ name: String) -> AsyncStream<AppActivationOutcome> {
            let (outcomes, continuation) = AsyncStream.makeStream(of: AppActivationOutcome.self)
            presenter.activate(AppActivation(busName: name, token: "t")) {
                continuation.yield($0)
                continuation.finish()
            }
            return outcomes
        }
        let unknown = await activate("com.example.unknown").first { _ in true }
        #expect(
            unknown
                == .notStarted(
                    reason: "its name on the session bus answered org.freedesktop.DBus.Error.ServiceUnknown"))
        let wrong = await activate("no bus name").first { _ in true }
        #expect(wrong == .notStarted(reason: "the call could not be written"))
        // What is asked after it is answered after it was asked for: the bus has the call when it ends.
        let slow = activate("com.example.slow")
        _ = await activate("com.example.unknown").first { _ in true }
        session.endBus()
        #expect(await slow.first { _ in true } == .unanswered(reason: "the session bus is gone"))
        presenter.stop()
    }

    @Test(arguments: [
        ("ServiceUnknown", false), ("Spawn.ChildExited", false), ("Spawn.ExecFailed", false), ("UnknownMethod", true),
        ("UnknownObject", true), ("TimedOut", true), ("NoReply", true),
    ])
    func `only where the bus starts nobody there is no app that may come`(error: String, mayCome: Bool) {
        let name = "org.freedesktop.DBus.Error.\(error)"
        let reason = "its name on the session bus answered \(name)"
        #expect(
            BusWorker.outcome(ofActivation: name)
                == (mayCome ? .unanswered(reason: reason) : .notStarted(reason: reason)))
    }

    @Test func `a bus that is not there gives no presenter`() {
        #expect(DesktopPresenter(address: "unix:path=/nonexistent/bus", logger: logger) == nil)
    }

    @Test func `the address is the session's, else the one of the runtime folder, else none`() {
        #expect(DesktopPresenter.sessionBusAddress(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:x"]) == "unix:x")
        #expect(DesktopPresenter.sessionBusAddress(environment: ["XDG_RUNTIME_DIR": "/nonexistent"]) == nil)
        #expect(DesktopPresenter.sessionBusAddress(environment: [:]) == nil)
    }
}
