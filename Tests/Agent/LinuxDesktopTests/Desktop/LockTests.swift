import AgentEngine
import AldabaTestSupport
import Foundation
import Logging
import Testing

@testable import LinuxDesktop

/// Who says that the screen is locked, on a bus of the test's own that is the system's and the session's at once.
@Suite(.enabled(if: DesktopSession.canMock), .timeLimit(.minutes(5)), .serialized)
struct LockTests {
    private static let login = "org.freedesktop.login1"
    private static let loginPath = "/org/freedesktop/login1"
    private static let sessionPath = "/org/freedesktop/login1/session/c1"
    private static let mock = "org.freedesktop.DBus.Mock"
    private static let saver = ScreenSaver.gnome

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func session() throws -> DesktopSession {
        let python = "/usr/bin/python3 -m dbusmock"
        return try DesktopSession(
            server: nil,
            services: [
                Self.login: "\(python) --template logind",
                Self.saver.name: "\(python) --session \(Self.saver.name) \(Self.saver.path) \(Self.saver.name)",
            ])
    }

    private func beginLogin(_ session: DesktopSession, isLocked: Bool) throws {
        try session.call(
            Self.login, Self.loginPath, "\(Self.mock).AddSession", "string:c1", "string:seat0", "uint32:\(getuid())",
            "string:somebody", "boolean:true")
        try hint(isLocked, session)
    }

    private func hint(_ isLocked: Bool, _ session: DesktopSession) throws {
        try session.call(
            Self.login, Self.sessionPath, "org.freedesktop.login1.Session.SetLockedHint", "boolean:\(isLocked)")
    }

    private func save(_ isActive: Bool, _ session: DesktopSession) throws {
        try session.call(
            Self.saver.name, Self.saver.path, "\(Self.mock).AddMethod", "string:", "string:GetActive", "string:",
            "string:b", "string:ret = \(isActive ? "True" : "False")")
    }

    /// A presenter that belongs to the session `c1`, and what it tells.
    private func start(
        _ session: DesktopSession, id: String? = "c1"
    ) throws -> (DesktopPresenter, AsyncStream<PresenterEvent>.AsyncIterator) {
        var environment = ["DBUS_SYSTEM_BUS_ADDRESS": session.address]
        environment["XDG_SESSION_ID"] = id
        let presenter = try #require(
            DesktopPresenter(address: session.address, login: LoginPlace(environment: environment), logger: logger))
        let (stream, continuation) = AsyncStream.makeStream(of: PresenterEvent.self)
        presenter.start(shown: []) { continuation.yield($0) }
        return (presenter, stream.makeAsyncIterator())
    }

    @Test func `a session that is locked already is locked from the start, until its hint changes`() async throws {
        let session = try session()
        try beginLogin(session, isLocked: true)
        var (presenter, events) = try start(session)
        #expect(await events.next() == .locked(true))
        try hint(false, session)
        #expect(await events.next() == .locked(false))
        try hint(true, session)
        #expect(await events.next() == .locked(true))
        presenter.stop()
    }

    @Test func `a system bus that goes unlocks nothing, and is heard again when it is back`() async throws {
        let (system, session) = (try session(), try DesktopSession(server: nil))
        try beginLogin(system, isLocked: true)
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": system.address, "XDG_SESSION_ID": "c1"]
        let presenter = try #require(
            DesktopPresenter(address: session.address, login: LoginPlace(environment: environment), logger: logger))
        let (stream, continuation) = AsyncStream.makeStream(of: (event: PresenterEvent, isBack: Bool).self)
        let isBack = Flag()
        presenter.start(shown: []) { continuation.yield(($0, isBack.load())) }
        var events = stream.makeAsyncIterator()
        #expect(await events.next()?.event == .locked(true))
        system.endBus()
        // What the thread has to say of the end it has said when it has answered this.
        await withCheckedContinuation { asked in presenter.present(presentation(1)) { _ in asked.resume() } }
        isBack.store(true)
        try system.beginBus()
        try beginLogin(system, isLocked: false)
        let next = await events.next()
        #expect(next?.event == .locked(false) && next?.isBack == true)
        presenter.stop()
    }

    @Test func `a screen saver that is active already locks the screen until it ends`() async throws {
        let session = try session()
        try save(true, session)
        var (presenter, events) = try start(session, id: nil)
        #expect(await events.next() == .locked(true))
        let process = try #require(try session.process(of: Self.saver.name))
        kill(process, SIGKILL)
        #expect(await events.next() == .locked(false))
        presenter.stop()
    }

    @Test func `where nobody locks the screen that is the first word`() async throws {
        let session = try session()
        var (presenter, events) = try start(session, id: nil)
        #expect(await events.next() == .locked(false))
        presenter.stop()
    }

    @Test func `without a system bus the screen savers are heard all the same`() async throws {
        let session = try session()
        try save(true, session)
        let place = LoginPlace(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
        let presenter = try #require(DesktopPresenter(address: session.address, login: place, logger: logger))
        let (stream, continuation) = AsyncStream.makeStream(of: PresenterEvent.self)
        presenter.start(shown: []) { continuation.yield($0) }
        var events = stream.makeAsyncIterator()
        #expect(await events.next() == .locked(true))
        presenter.stop()
    }
}
