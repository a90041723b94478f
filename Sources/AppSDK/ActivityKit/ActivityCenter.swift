import AgentProtocol
import AppHost
import Foundation
import Synchronization

/// The Live Activities of a process: it passes on the agent's events, and the app's commands.
///
/// Events and answers come on the host's queue, one after another. No lock is held while the app's own code decodes.
package final class ActivityCenter: Sendable {
    /// The bytes that attributes and content state may have together, as JSON.
    static let sizeLimit = 4_096
    /// The activities of an app that take updates at one time.
    static let runningLimit = 8
    /// The reports that are remembered, so that each is written once.
    private static let reportLimit = 100

    /// The center of this process; tests make others.
    @TaskLocal package static var current = ActivityCenter(host: .shared)

    private struct State {
        var isObserving = false
        /// Whether nobody waits for the agent's first events any more.
        var hasWaited = false
        var isAskingForPermission = false
        var lists: [ObjectIdentifier: any ActivityReception] = [:]
        /// The activities that the agent has, by their ids: some may be of types that the app has not used yet.
        var known: [String: LiveActivity] = [:]
        var reports: Set<String> = []
    }

    private let host: AppHost
    private let firstEventsLimit: DispatchTimeInterval
    private let write: @Sendable (String) -> Void
    private let firstEvents = DispatchSemaphore(value: 0)
    private let state = Mutex(State())
    /// The token for pushes that start an activity.
    let startToken = Broadcast<Data>()
    /// The person's permission, once it is known.
    let permission = Broadcast<Bool>()

    /// Makes the center of a host.
    ///
    /// - Parameters:
    ///   - firstEventsLimit: The time for which ``waitForFirstEvents()`` waits.
    ///   - write: Writes a line for the person at the terminal.
    package init(
        host: AppHost, firstEventsLimit: DispatchTimeInterval = .seconds(1),
        write: @escaping @Sendable (String) -> Void = ActivityCenter.writeToStandardError
    ) {
        self.host = host
        self.firstEventsLimit = firstEventsLimit
        self.write = write
    }

    /// Begins to receive the agent's events, once.
    func observe() {
        let begins = state.withLock { state in
            defer { state.isObserving = true }
            return !state.isObserving
        }
        guard begins else { return }
        host.start()
        host.observeActivities { [weak self] in self?.receive($0) }
        // An app without UIKit's life cycle has launched when it uses activities.
        host.onMain { [host] receivers in if receivers.application == nil { host.finishLaunch() } }
    }

    /// Waits until the agent has said which activities there are, at most a second, and once in a process.
    func waitForFirstEvents() {
        guard !state.withLock(\.hasWaited) else { return }
        if firstEvents.wait(timeout: .now() + firstEventsLimit) == .success { firstEvents.signal() }
        state.withLock { $0.hasWaited = true }
    }

    /// Writes a line for the person at the terminal, once for each `key`.
    func report(_ text: String, once key: String) {
        let isNew = state.withLock { $0.reports.count < Self.reportLimit && $0.reports.insert(key).inserted }
        if isNew { write(text) }
    }

    /// Writes a line to standard error.
    package static let writeToStandardError: @Sendable (String) -> Void = { text in
        // A terminal that is gone is no reason to end the app.
        try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(text)\n".utf8))
    }
}

// MARK: - Events

extension ActivityCenter {
    /// The list of the activities of a type.
    func list<Attributes: ActivityAttributes>(of type: Attributes.Type) -> ActivityList<Attributes> {
        observe()
        let key = ObjectIdentifier(type)
        let (list, known) = state.withLock { state -> (ActivityList<Attributes>, [LiveActivity]) in
            if let list = state.lists[key] as? ActivityList<Attributes> { return (list, []) }
            let list = ActivityList<Attributes>()
            state.lists[key] = list
            return (list, Array(state.known.values))
        }
        for activity in known {
            list.adopt(activity, self)
            // It may have been dismissed since `known` was read.
            if state.withLock({ $0.known[activity.id] == nil }) { list.dismiss(activity.id) }
        }
        return list
    }

    private func receive(_ event: ActivityEvent) {
        switch event {
        case .all(let activities, let token):
            let lists = state.withLock { state in
                state.known = Dictionary(activities.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                return Array(state.lists.values)
            }
            let ids = Set(activities.map(\.id))
            for list in lists {
                list.dismissAll(except: ids)
                for activity in activities { list.receive(activity, self) }
            }
            receive(startToken: token)
            firstEvents.signal()
        case .changed(let activity):
            let lists = state.withLock { state in
                state.known[activity.id] = activity.state == .dismissed ? nil : activity
                return Array(state.lists.values)
            }
            for list in lists { list.receive(activity, self) }
        case .startToken(let token): receive(startToken: token)
        case .accepted, .refused: break
        }
    }

    private func receive(startToken token: String?) {
        if let bytes = token.flatMap(DeviceTokenText.bytes) { startToken.set(bytes) }
    }
}

// MARK: - Commands

extension ActivityCenter {
    /// Throws where it is known already that the agent will refuse another activity.
    func checkMayStart() throws(ActivityAuthorizationError) {
        if permission.kept.last == false {
            // The person may have allowed it since: then the next activity starts.
            askForPermission()
            throw .denied
        }
        let lists = state.withLock { Array($0.lists.values) }
        guard lists.reduce(0, { $0 + $1.runningCount }) < Self.runningLimit else { throw .targetMaximumExceeded }
    }

    /// Has the agent start an activity of a list, which dismisses it where the agent does not.
    func start(
        _ wire: LiveActivity, pushes: LiveActivityPushes, progress: ActivityProgress,
        in list: any ActivityReception
    ) {
        host.askActivity({ .start(request: $0, wire, pushes) }) { [weak self] answer in
            switch answer {
            case .accepted: progress.noteStarted()
            case .delayed: break
            case .refused(let code, let message):
                if code == ActivityFault.denied { self?.permission.set(false) }
                self?.report("the Live Activity \(wire.id) is not started (\(code)): \(message)", once: wire.id)
                list.dismiss(wire.id)
            case nil:
                self?.report("the Live Activity \(wire.id) is not started: \(Self.untaken)", once: wire.id)
                list.dismiss(wire.id)
            }
        }
    }

    private static let untaken =
        "no agent takes it; the app has no id, another process is the app now, or too much waits already"

    /// Sends a command about an activity. Returns when the agent has answered, or at once while none is connected.
    nonisolated(nonsending) func ask(
        about id: String, _ progress: ActivityProgress,
        _ command: @escaping @Sendable (Int64) -> ActivityCommand
    ) async {
        let (answered, answers) = AsyncStream<Never>.makeStream()
        host.askActivity(command) { [weak self] answer in
            answers.finish()
            // The object has what the app wished; where the agent has something else, its events set it right.
            switch answer {
            case .delayed: break
            case .accepted: if progress.endChange() { self?.host.askForActivities() }
            case .refused(let code, let message):
                self?.report("the Live Activity \(id) is not changed (\(code)): \(message)", once: "\(code) \(id)")
                _ = progress.endChange()
                self?.host.askForActivities()
            case nil:
                self?.report("the Live Activity \(id) is not changed: \(Self.untaken)", once: "untaken \(id)")
                _ = progress.endChange()
                self?.host.askForActivities()
            }
        }
        for await _ in answered {}
    }

    /// Asks for the person's permission, unless that is being asked already.
    func askForPermission() {
        observe()
        let asks = state.withLock { state in
            defer { state.isAskingForPermission = true }
            return !state.isAskingForPermission
        }
        guard asks else { return }
        host.requestSettings { [weak self] settings in
            self?.state.withLock { $0.isAskingForPermission = false }
            if let settings { self?.permission.set(settings.authorizationStatus != Self.deniedStatus) }
        }
    }

    /// The status of notifications that the person does not allow, as in `UNAuthorizationStatus`.
    private static let deniedStatus = 1
}
