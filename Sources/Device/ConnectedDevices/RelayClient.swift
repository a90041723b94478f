import AgentWire
import AppHost
import Foundation
import RelayWire
import Synchronization

/// The process's connection to its agent for relaying. Thread-safe. It is made again for as long as the client is started.
///
/// Guarantees: every request is answered once, with `nil` where the agent cannot be reached or the connection ends first;
/// listeners hear notices in their order.
final class RelayClient: Sendable {
    /// What listeners hear.
    enum News: Sendable {
        /// The agent can be asked, from now on.
        case opened
        /// The connection is over.
        case ended
        case notice(RelayNotice)
    }

    private struct State {
        var isStarted = false
        var isStopped = false
        var isOpen = false
        /// Whether an attempt was made since the start: before that, requests wait.
        var hasTried = false
        var connection: AgentConnection?
        var lastRequest: Int64 = 0
        var lastListener = 0
        var waiting: [Int64: @Sendable (RelayNotice?) -> Void] = [:]
        var listeners: [Int: @Sendable (News) -> Void] = [:]
        var held: [@Sendable () -> Void] = []
    }

    /// The client of this process.
    static let shared = RelayClient(configuration: .current())

    private let configuration: AppHostConfiguration
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "aldaba.relay")
    private static let pause = DispatchTimeInterval.seconds(1)

    init(configuration: AppHostConfiguration) { self.configuration = configuration }

    /// The app's bundle id; empty where nothing names it.
    var app: String { configuration.app?.rawValue ?? "" }

    /// Begins to connect; does nothing while it is started.
    func start() {
        let begins = state.withLock { state in
            defer { state.isStarted = true }
            state.isStopped = false
            return !state.isStarted
        }
        if begins { connect() }
    }

    /// Ends the connection.
    func stop() {
        let connection = state.withLock { state in
            state.isStopped = true
            state.isStarted = false
            return state.connection
        }
        connection?.close()
    }

    /// Asks the agent.
    func ask(_ make: @escaping @Sendable (Int64) -> RelayRequest) async -> RelayNotice? {
        await withCheckedContinuation { continuation in
            ask(make) { continuation.resume(returning: $0) }
        }
    }

    private func ask(
        _ make: @escaping @Sendable (Int64) -> RelayRequest, then complete: @escaping @Sendable (RelayNotice?) -> Void
    ) {
        enum Step { case wait, fail, send(AgentConnection, Int64) }
        let step = state.withLock { state -> Step in
            guard state.isStarted else { return .fail }
            guard let connection = state.connection, state.isOpen else {
                guard !state.hasTried else { return .fail }
                state.held.append { [self] in ask(make, then: complete) }
                return .wait
            }
            state.lastRequest += 1
            state.waiting[state.lastRequest] = complete
            return .send(connection, state.lastRequest)
        }
        switch step {
        case .wait: break
        case .fail: complete(nil)
        case .send(let connection, let number):
            if !send(make(number), over: connection) { settle(number, nil) }
        }
    }

    /// Says something that is not answered.
    func say(_ request: RelayRequest) {
        if let connection = state.withLock({ $0.isOpen ? $0.connection : nil }) { _ = send(request, over: connection) }
    }

    /// - Returns: `false` where the request cannot be written.
    private func send(_ request: RelayRequest, over connection: AgentConnection) -> Bool {
        guard let bytes = try? request.encoded(),
            let frame = try? AppMessage.relay(RelayPacket(bytes)).frame()
        else { return false }
        connection.send(frame)
        return true
    }

    /// Has somebody told what the agent says, on one queue, until ``ignore(_:)``.
    func listen(_ listener: @escaping @Sendable (News) -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    func ignore(_ listener: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: listener) } }

    private func connect() {
        AgentConnection.open(path: configuration.socketPath) { [self] notice in
            switch notice {
            case .opened(let connection):
                let mayGoOn = state.withLock { state in
                    state.connection = connection
                    return !state.isStopped
                }
                guard mayGoOn else { return connection.close() }
                let hello = AppMessage.hello(
                    version: AgentFrame.version, app: configuration.app ?? "", secret: nil, role: .relayService)
                if let frame = try? AgentFrame.encode(hello) { connection.send(frame) }
            case .received(let messages, let connection):
                queue.async { [self] in
                    for message in messages { take(message) }
                    connection.readOn()
                }
            case .ended: queue.async { [self] in ended() }
            }
        }
    }

    private func take(_ message: AgentMessage) {
        switch message {
        case .welcome:
            release(isOpen: true)
            tell(.opened)
        case .relay(let packet):
            guard let notice = try? RelayNotice([UInt8](packet.frame)) else { return }
            switch notice {
            case .answered(let number, _, _), .life(let number, _, _), .managed(let number, _): settle(number, notice)
            default: tell(.notice(notice))
            }
        case .refused(_, let code, let text):
            FileHandle.standardError.write(Data("aldaba: the agent refused to relay: \(text)\n".utf8))
            // Another process of the app relays for it now.
            if code == AgentMessage.superseded { stop() }
        default: break
        }
    }

    private func settle(_ number: Int64, _ notice: RelayNotice?) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?(notice)
    }

    /// Lets requests go on that waited for the first attempt.
    private func release(isOpen: Bool) {
        let held = state.withLock { state in
            state.isOpen = isOpen
            state.hasTried = true
            defer { state.held = [] }
            return state.held
        }
        for ask in held { ask() }
    }

    private func ended() {
        let (waiting, wasOpen, isStopped) = state.withLock { state in
            defer {
                state.waiting = [:]
                state.connection = nil
            }
            return (state.waiting, state.isOpen, state.isStopped)
        }
        release(isOpen: false)
        for complete in waiting.values { complete(nil) }
        if wasOpen { tell(.ended) }
        if !isStopped { queue.asyncAfter(deadline: .now() + Self.pause) { [self] in connectAgain() } }
    }

    private func connectAgain() {
        if state.withLock({ !$0.isStopped && $0.connection == nil }) { connect() }
    }

    private func tell(_ news: News) {
        for listener in state.withLock({ $0.listeners.sorted { $0.key < $1.key }.map(\.value) }) { listener(news) }
    }
}
