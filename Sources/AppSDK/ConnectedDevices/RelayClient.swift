import AgentProtocol
import AppHost
import Foundation
import RelayProtocol
import Synchronization

/// The process's connection to its agent for relaying. Thread-safe. It is reconnected as long as the client is started.
///
/// Guarantees: every request is answered once, with `nil` where the agent cannot be reached or the connection ends
/// first; listeners receive notices in order.
final class RelayClient: Sendable {
    /// An event for the listeners of the client.
    enum News: Sendable {
        /// The agent can be asked, from now on.
        case opened
        /// The connection is over.
        case ended
        case notice(RelayNotice)
    }

    /// The state of a connection that remains when it has ended, for its callers.
    private struct Rest: Sendable {
        let connection: AgentConnection?
        let wasOpen: Bool
        let waiting: [Int64: @Sendable (RelayNotice?) -> Void]
        let held: [@Sendable () -> Void]
    }

    private struct State {
        var attempts = RelayAttempts()
        /// The connection of the attempt that counts.
        var connection: AgentConnection?
        var lastRequest: Int64 = 0
        var commands = 0
        var commandBytes = 0
        var lastListener = 0
        var waiting: [Int64: @Sendable (RelayNotice?) -> Void] = [:]
        var listeners: [Int: @Sendable (News) -> Void] = [:]
        var held: [@Sendable () -> Void] = []
        /// The handlers that run when the agent cancels a call to this app, by the call's number.
        var cancels: [Int64: @Sendable () -> Void] = [:]
        /// The filters of the running watchers, by their listeners.
        var watchers: [Int: RelayDeviceFilter] = [:]

        /// Takes out what the connection leaves.
        mutating func rest(wasOpen: Bool) -> Rest {
            defer { (connection, waiting, held, cancels) = (nil, [:], [], [:]) }
            return Rest(connection: connection, wasOpen: wasOpen, waiting: waiting, held: held)
        }
    }

    /// The client of this process.
    static let shared: RelayClient = {
        let configuration = AppHostConfiguration.current()
        if configuration.isSupervised { SupervisorWatch.begin() }
        return RelayClient(configuration: configuration)
    }()

    private let configuration: AppHostConfiguration
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "aldaba.relay")
    private static let pause = DispatchTimeInterval.seconds(1)
    /// The most commands in progress: as many as the agent accepts from one app, those that it queues among them.
    static let commandLimit = 64 + 1024
    /// The most commands in progress whose size does not matter.
    static let largeCommandLimit = 64
    /// How many bytes the commands beyond those may have together.
    static let commandBytesLimit = 16 << 20
    /// The most bytes queued for the agent: for as many of the largest messages and requested pieces as it accepts.
    static let unwrittenLimit = 64 << 20

    init(configuration: AppHostConfiguration) { self.configuration = configuration }

    /// The app's bundle id; empty where nothing names it.
    var app: String { configuration.app?.rawValue ?? "" }

    /// Begins to connect; does nothing while it is started.
    func start() {
        AppHost.printsByLines
        if let attempt = state.withLock({ $0.attempts.start() }) { connect(attempt) }
    }

    /// Ends the connection. Its later messages are ignored, even after another ``start()``.
    func stop() { stop { _ in true } }

    private func stop(where isMeant: (RelayAttempts) -> Bool) {
        let rest = state.withLock { state -> Rest? in
            guard isMeant(state.attempts) else { return nil }
            let wasOpen = state.attempts.isOpen
            state.attempts.stop()
            return state.rest(wasOpen: wasOpen)
        }
        guard let rest else { return }
        rest.connection?.close()
        queue.async { [self] in finish(rest) }
    }

    /// Sends a request to the agent. A request that the agent would not read, and for which it would close the
    /// connection, is answered here.
    ///
    /// - Parameter passage: Records whether the request was sent before the connection ended; one that was canceled is
    ///   not sent.
    func ask(
        _ make: @escaping @Sendable (Int64) -> RelayRequest, by passage: RequestProgress = RequestProgress()
    ) async -> RelayNotice? {
        if let fault = make(0).fault {
            let status: RelayStatus = if case .tooLarge = fault.problem { .tooLarge } else { .failed }
            return .answered(request: 0, id: nil, RelayOutcome(status, detail: fault.description))
        }
        return await withCheckedContinuation { continuation in
            ask(make, passage) { continuation.resume(returning: $0) }
        }
    }

    private func ask(
        _ make: @escaping @Sendable (Int64) -> RelayRequest, _ passage: RequestProgress,
        then complete: @escaping @Sendable (RelayNotice?) -> Void
    ) {
        enum Step { case wait, fail, send(AgentConnection, Int64) }
        let step = state.withLock { state -> Step in
            guard state.attempts.isStarted else { return .fail }
            guard let connection = state.connection, state.attempts.isOpen else {
                guard !state.attempts.hasTried else { return .fail }
                state.held.append { [self] in ask(make, passage, then: complete) }
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
            let hasLeft = passage.sendUnlessCancelled { send(make(number), over: connection) }
            if !hasLeft { settle(number, nil) }
        }
    }

    /// Notes that a command begins.
    ///
    /// - Parameter size: How many bytes it has, where that matters.
    /// - Returns: The bytes counted for the command until it ends; `nil` where too many are in progress.
    func beginCommand(size: () -> Int = { 0 }) -> Int? {
        let mayBeLarge = state.withLock { state in
            guard state.commands < Self.largeCommandLimit else { return false }
            state.commands += 1
            return true
        }
        if mayBeLarge { return 0 }
        let size = size()
        return state.withLock { state in
            guard state.commands < Self.commandLimit, state.commandBytes + size <= Self.commandBytesLimit else {
                return nil
            }
            state.commands += 1
            state.commandBytes += size
            return size
        }
    }

    /// Notes that a command has ended, of which so much was counted.
    func endCommand(_ size: Int) {
        state.withLock { state in
            state.commands -= 1
            state.commandBytes -= size
        }
    }

    /// Calls a handler, once, when the agent cancels the call of this number to this app.
    func whenCancelled(_ call: Int64, _ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancels[call] = cancel }
    }

    /// Removes the cancel handler of a call that was answered, or whose cancellation no longer matters.
    func expectNoCancel(of call: Int64) { state.withLock { _ = $0.cancels.removeValue(forKey: call) } }

    /// Notes that a watcher begins.
    func beginWatching(_ listener: Int, _ filter: RelayDeviceFilter) {
        state.withLock { $0.watchers[listener] = filter }
    }

    /// The request to watch devices for all watchers together; each watcher ignores the devices that it does not want.
    func watch(_ request: Int64) -> RelayRequest {
        let filters = state.withLock { Set($0.watchers.values) }
        let all = filters.contains(RelayDeviceFilter()) || filters.count > RelayRequest.filterLimit
        return .watch(request: request, filters: all ? [] : Array(filters))
    }

    /// Notes that a watcher has ended. After the last one the agent reports no more devices.
    func endWatching(_ listener: Int) {
        let isLast = state.withLock { state in
            state.watchers[listener] = nil
            return state.watchers.isEmpty
        }
        guard isLast else { return }
        say(.unwatch(request: 0))
        // A watcher may have begun meanwhile, and its request may have arrived before this one.
        if state.withLock({ !$0.watchers.isEmpty }) { say(watch(0)) }
    }

    /// Sends a request that has no answer.
    func say(_ request: RelayRequest) {
        let connection = state.withLock { $0.attempts.isOpen ? $0.connection : nil }
        if let connection { _ = send(request, over: connection) }
    }

    /// - Returns: `false` where the request cannot be written.
    private func send(_ request: RelayRequest, over connection: AgentConnection) -> Bool {
        guard let bytes = try? request.encoded(),
            let frame = try? AppMessage.relay(RelayPacket(bytes)).frame()
        else { return false }
        connection.send(frame)
        return true
    }

    /// Adds a listener for the agent's notices, on one queue, until ``ignore(_:)``.
    func listen(_ listener: @escaping @Sendable (News) -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    func ignore(_ listener: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: listener) } }

    private func connect(_ attempt: Int) {
        AgentConnection.open(path: configuration.socketPath, unwrittenLimit: Self.unwrittenLimit) { [self] notice in
            switch notice {
            case .opened(let connection):
                let counts = state.withLock { state in
                    guard state.attempts.counts(attempt) else { return false }
                    state.connection = connection
                    return true
                }
                guard counts else { return connection.close() }
                let hello = AppMessage.hello(
                    version: AgentFrame.version, app: configuration.app ?? "", secret: nil, role: .relayService)
                if let frame = try? AgentFrame.encode(hello) { connection.send(frame) }
            case .received(let messages, let connection):
                queue.async { [self] in
                    for message in messages { take(message, attempt) }
                    connection.readOn()
                }
            case .ended: queue.async { [self] in handleDisconnect(of: attempt) }
            }
        }
    }

    private func take(_ message: AgentMessage, _ attempt: Int) {
        guard state.withLock({ $0.attempts.counts(attempt) }) else { return }
        switch message {
        case .welcome: welcomed(attempt)
        case .relay(let packet):
            guard let notice = try? RelayNotice([UInt8](packet.frame)) else { return }
            switch notice {
            case .answered(let number, _, _), .life(let number, _, _, _), .managed(let number, _),
                .found(let number, _):
                settle(number, notice)
            case .cancelled(let call): state.withLock { $0.cancels.removeValue(forKey: call) }?()
            default: notifyListeners(.notice(notice))
            }
        case .refused(_, let code, let text):
            FileHandle.standardError.write(Data("aldaba: the agent refused to relay: \(text)\n".utf8))
            // More processes of the app relay than may, and this one is the oldest.
            if code == AgentMessage.superseded { stop { $0.counts(attempt) } }
        default: break
        }
    }

    private func settle(_ number: Int64, _ notice: RelayNotice?) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?(notice)
    }

    /// Lets requests go on that waited for the first attempt.
    private func welcomed(_ attempt: Int) {
        let held = state.withLock { state -> [@Sendable () -> Void]? in
            guard state.attempts.welcome(attempt) else { return nil }
            defer { state.held = [] }
            return state.held
        }
        guard let held else { return }
        for ask in held { ask() }
        notifyListeners(.opened)
    }

    private func handleDisconnect(of attempt: Int) {
        let rest = state.withLock { state -> Rest? in
            let wasOpen = state.attempts.isOpen
            return state.attempts.end(attempt) ? state.rest(wasOpen: wasOpen) : nil
        }
        guard let rest else { return }
        finish(rest)
        queue.asyncAfter(deadline: .now() + Self.pause) { [self] in
            if let next = state.withLock({ $0.attempts.next(after: attempt) }) { connect(next) }
        }
    }

    /// Answers the requests that waited for a connection that has ended, and notifies the listeners.
    private func finish(_ rest: Rest) {
        for ask in rest.held { ask() }
        for complete in rest.waiting.values { complete(nil) }
        if rest.wasOpen { notifyListeners(.ended) }
    }

    private func notifyListeners(_ news: News) {
        for listener in state.withLock({ $0.listeners.sorted { $0.key < $1.key }.map(\.value) }) { listener(news) }
    }
}

extension RelayRequest {
    /// Why the agent would not read the request; `nil` where it does.
    var fault: RelayFault? {
        do throws(RelayFault) {
            _ = try RelayRequest(try encoded())
            return nil
        } catch {
            return error
        }
    }
}
