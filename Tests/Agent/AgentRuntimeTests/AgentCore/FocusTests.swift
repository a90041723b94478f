import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import NIOEmbedded
import Platform
import PushCore
import Synchronization
import Testing

@testable import AgentRuntime

/// A screen whose windows the test plays.
final class FakeFocus: WindowFocusSource {
    let stops = Mutex(0)
    /// Who started whom.
    let parents: [Int32: Int32] = [20: 19, 19: 7, 30: 29]
    private let events = Mutex<(@Sendable (FocusEvent) -> Void)?>(nil)

    var isBegun: Bool { events.withLock { $0 != nil } }

    func start(events: @escaping @Sendable (FocusEvent) -> Void) { self.events.withLock { $0 = events } }
    func stop() { stops.withLock { $0 += 1 } }
    func tells(_ event: FocusEvent) { events.withLock { $0 }?(event) }
}

/// Apps that are in front while a window of theirs has the focus.
@Suite(.timeLimit(.minutes(5))) struct FocusTests {
    private func harness(_ lifecycle: AppManifest.Lifecycle = .focus) async throws -> AgentHarness {
        let harness = try AgentHarness { $0.lifecycle = lifecycle }
        try await harness.start()
        return harness
    }

    /// The next state that the app is told, by the welcome or later.
    private func state(_ channel: NIOAsyncTestingChannel) async throws -> AppState {
        while true {
            for message in try await channel.waitForOutboundWrite(as: [AgentMessage].self) {
                switch message {
                case .welcome(let welcome): return welcome.state
                case .enter(let state): return state
                default: break
                }
            }
        }
    }

    @Test func `an app is active while its own window, or one of a program that it started, has the focus`()
        async throws
    {
        let harness = try await harness()
        let channel = try await harness.connectApp(process: 7)
        #expect(try await state(channel) == .background)
        for (process, expected) in [(7, .active), (30, .background), (20, .active), (nil, .background)]
            as [(Int32?, AppState)]
        {
            harness.focus.tells(.focused(process: process))
            #expect(try await state(channel) == expected)
        }
        try await harness.stop()
        #expect(harness.focus.stops.withLock { $0 } == 1)
    }

    @Test func `an app that connects while its window has the focus is active at once`() async throws {
        let harness = try await harness()
        harness.focus.tells(.focused(process: 20))
        let channel = try await harness.connectApp(process: 7)
        #expect(try await state(channel) == .active)
        try await harness.stop()
    }

    @Test func `a locked screen has no window that the person sees`() async throws {
        let harness = try await harness()
        harness.focus.tells(.focused(process: 7))
        let channel = try await harness.connectApp(process: 7)
        #expect(try await state(channel) == .active)
        harness.desktop.does(.locked(true))
        #expect(try await state(channel) == .background)
        harness.desktop.does(.locked(false))
        #expect(try await state(channel) == .active)
        try await harness.stop()
    }

    @Test func `with the focus an app is asked how to present, without it the popup appears`() async throws {
        let harness = try await harness()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        harness.focus.tells(.focused(process: getpid()))
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await app.delivery()) == (1, .foreground))
        app.send(.handled(notification: 1, outcome: .presented(options: 0)))
        harness.focus.tells(.focused(process: nil))
        #expect(await app.inbox.next { if case .enter = $0 { true } else { false } } == .enter(.background))
        session.events(.arrived([outgoing(2)]))
        #expect(await harness.desktop.show()?.notification.rawValue == 2)
        try await harness.stop()
    }

    @Test func `what the app says counts until the focus changes, and for good when nobody tells any more`()
        async throws
    {
        let harness = try await harness()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        let app = try await harness.readyApp()
        app.send(.stateChanged(.active), .getSettings(request: 1))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await app.delivery()) == (1, .foreground))
        harness.focus.tells(.ended(reason: "the X server is gone"))
        #expect(await app.inbox.next { if case .enter = $0 { true } else { false } } == .enter(.background))
        app.send(.stateChanged(.active), .getSettings(request: 2))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        session.events(.arrived([outgoing(2)]))
        #expect(try #require(await app.delivery()) == (2, .foreground))
        try await harness.stop()
    }

    @Test func `the screen is not watched for apps that say themselves where they are`() async throws {
        let harness = try await harness(.declared)
        let channel = try await harness.connectApp(process: 7)
        #expect(try await state(channel) == .active)
        #expect(!harness.focus.isBegun)
        try await harness.stop()
    }

    @Test func `a line of processes ends after sixteen steps, at the system's first and where nothing is known`() {
        #expect(ProcessTree.line(of: 100) { $0 - 1 } == (84...100).reversed())
        #expect(ProcessTree.line(of: 3) { $0 - 1 } == [3, 2])
        #expect(ProcessTree.line(of: 3) { _ in nil } == [3])
        #expect(ProcessTree.parent(of: getpid()) == getppid())
        #expect(ProcessTree.parent(of: -1) == nil)
    }

    @Test(
        arguments: [
            ("7 (a) S 5 1", 5), ("7 (a) b) S) S 6 1", 6), ("7 (a", nil), ("", nil), ("7 (a) S", nil),
            ("7 (a) S x 1", nil),
        ] as [(String, Int32?)])
    func `a process's parent is read past whatever its name is`(text: String, parent: Int32?) {
        #expect(ProcessTree.parent(inStatus: Data(text.utf8)) == parent)
    }
}
