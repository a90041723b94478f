import AgentWire
import AppConnections
import DeviceModel
import DeviceStore
import InstalledApps
import PushModel

/// The direct channels of apps: what waits for them, and what they say.
extension Agent {
    // MARK: What comes from the server

    /// Stores a data message; it goes to its app's channel after the commit.
    func dataArrived(_ message: OutgoingNotification, in session: Int, at now: Timestamp) {
        let app = apps[BundleID(message.topic)]
        enqueue(
            .dataArrived(
                ArrivedData(
                    message: message, session: session, receivedAt: now, isForInstalledApp: app != nil,
                    isChannelOpen: app?.channel.isOpen == true)))
        watchExpiry(of: message.expiresAt)
    }

    // MARK: What the app says

    func perform(_ command: ChannelCommand, from app: BundleID, _ connection: AppConnection) {
        switch command {
        case .open:
            giveData(.opened, to: app)
            tellChannel(to: app)
        case .close: giveData(.closed, to: app)
        case .taken(let message): giveData(.taken(NotificationID(rawValue: message)), to: app)
        case .send(let request, let draft): sendUpstream(draft, request: request, app: app, connection)
        case .endTaken(let upstream): enqueue(.upstreamEndTaken(upstream, app: app))
        case .topic(let request, let name, let joins):
            changeTopic(name, joins: joins, request: request, app: app, connection)
        }
    }

    /// Tells an app whose channel is open whether it is open as far as the server.
    func tellChannel(to app: BundleID) {
        guard let installed = apps[app], installed.channel.isOpen else { return }
        let isConnected = onLink { $0.isOpen } ?? false
        installed.connection?.send([.channel(.state(isConnected: isConnected))])
    }

    /// The session with the server began or ended.
    func tellChannels() { for app in apps.keys { tellChannel(to: app) } }

    // MARK: Handing over

    /// Passes an event to an app's ``ChannelDelivery``, and follows its directives.
    func giveData(_ event: ChannelDelivery.Event, to app: BundleID) {
        var directives = apps[app]?.channel.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let now = parts.now()
                    let page = try store.read { try $0.waitingData(app: app, after: place, limit: limit, at: now) }
                    directives += apps[app]?.channel.handle(.page(page, limit: limit)) ?? []
                case .deliver(let message): messages.append(.channel(.message(message.delivered)))
                case .record(let id): enqueue(.dataTaken(id, app: app, at: parts.now()))
                }
            }
        } catch {
            return storeFailed(error)
        }
        guard !messages.isEmpty, let connection = apps[app]?.connection else { return }
        AgentStep.handOver.take { connection.send(messages) }
    }

    // MARK: Expiry

    /// Ends what has expired when this moment has come.
    func watchExpiry(of moment: Timestamp?) {
        guard let moment else { return }
        if let watched = watchedExpiry, watched <= moment { return }
        watchedExpiry = moment
        let rest = max(0, moment.rawValue - parts.now().rawValue)
        enter(after: .milliseconds(min(rest, Self.longestWatch))) { $0.endExpired(watched: moment) }
    }

    /// Takes up what the last run left.
    func resumeData() {
        do {
            let moments = try store.read { [try $0.nextDataExpiry(), try $0.nextUpstreamExpiry()] }
            watchExpiry(of: moments.compactMap(\.self).min())
        } catch {
            storeFailed(error)
        }
    }

    private static let longestWatch: Int64 = 3_600_000

    private func endExpired(watched: Timestamp) {
        guard watchedExpiry == watched else { return }
        watchedExpiry = nil
        enqueue(.dataExpired(at: parts.now()))
        enqueue(.upstreamExpired(at: parts.now()))
        flush()
        resumeData()
    }
}
