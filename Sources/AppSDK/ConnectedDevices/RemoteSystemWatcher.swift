import RelayProtocol
import Synchronization

/// Reports this person's other devices until it is stopped: first all that exist, then ``enumerationCompleted``, then
/// changes.
///
/// Watchers of other processes of the app do not affect it.
public final class RemoteSystemWatcher: Sendable {
    private struct State {
        var listener: Int?
        var told: [String: RemoteSystem] = [:]
        /// The devices reported since the agent was last asked again; `nil` when that enumeration is complete.
        var fresh: Set<String>? = []
        var isCompleted = false
    }

    private let filters: [RemoteSystemFilter]
    private let client: RelayClient
    private let state = Mutex(State())

    /// A device was found that was not reported before.
    public let remoteSystemAdded = ConnectedDevicesEvent<RemoteSystem>()
    /// A reported device has changed.
    public let remoteSystemUpdated = ConnectedDevicesEvent<RemoteSystem>()
    /// A device that is there no more, or does not pass the filters any more.
    public let remoteSystemRemoved = ConnectedDevicesEvent<RemoteSystem>()
    /// All devices that existed at the start are reported; the watcher continues.
    public let enumerationCompleted = ConnectedDevicesEvent<Void>()
    /// Devices cannot be found now; the watching goes on.
    public let errorOccurred = ConnectedDevicesEvent<RemoteSystemWatcherError>()

    /// A watcher that is not started.
    ///
    /// - Parameter filters: All of them must be passed; of several of one kind, each.
    public convenience init(filters: [RemoteSystemFilter] = []) { self.init(filters: filters, client: .shared) }

    init(filters: [RemoteSystemFilter], client: RelayClient) {
        self.filters = filters
        self.client = client
    }

    /// Starts to report devices; does nothing while it is started.
    public func start() {
        let listener = client.listen { [weak self] in self?.take($0) }
        let isFirst = state.withLock { state in
            guard state.listener == nil else { return false }
            state.listener = listener
            return true
        }
        guard isFirst else { return client.ignore(listener) }
        client.beginWatching(listener, RemoteSystemFilter.agentFilter(filters))
        client.start()
        Task { await watch() }
    }

    deinit { stop() }

    /// Stops reporting devices.
    public func stop() {
        let listener = state.withLock { state in
            defer { state = State() }
            return state.listener
        }
        guard let listener else { return }
        client.ignore(listener)
        client.endWatching(listener)
    }

    private func watch() async {
        guard state.withLock({ $0.listener != nil }) else { return }
        if await client.ask({ [client] in client.watch($0) }) == nil { errorOccurred.fire(.internetNotAvailable) }
    }

    func take(_ news: RelayClient.News) {
        switch news {
        case .opened:
            state.withLock { $0.fresh = [] }
            Task { await watch() }
        case .ended: errorOccurred.fire(.internetNotAvailable)
        case .notice(.added(let device)), .notice(.updated(let device)): reportSystem(RemoteSystem(device))
        case .notice(.removed(let id)): forget(id)
        case .notice(.enumerationCompleted): complete()
        case .notice(.watchFailed(let obstacle, _)): errorOccurred.fire(RemoteSystemWatcherError(obstacle))
        case .notice: break
        }
    }

    /// Removes the devices that disappeared while the agent could not report it.
    private func complete() {
        let (gone, isFirst) = state.withLock { state -> ([String], Bool) in
            let gone = state.fresh.map { fresh in state.told.keys.filter { !fresh.contains($0) } } ?? []
            state.fresh = nil
            defer { state.isCompleted = true }
            return (gone, !state.isCompleted)
        }
        for id in gone { forget(id) }
        if isFirst { enumerationCompleted.fire(()) }
    }

    private func reportSystem(_ system: RemoteSystem) {
        guard filters.allSatisfy({ $0.passes(system) }) else { return forget(system.id) }
        let known = state.withLock { state in
            state.fresh?.insert(system.id)
            return state.told.updateValue(system, forKey: system.id)
        }
        if known == nil { remoteSystemAdded.fire(system) } else if known != system { remoteSystemUpdated.fire(system) }
    }

    private func forget(_ id: String) {
        if let system = state.withLock({ $0.told.removeValue(forKey: id) }) { remoteSystemRemoved.fire(system) }
    }
}
