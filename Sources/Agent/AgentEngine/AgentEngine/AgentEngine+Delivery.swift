import AgentProtocol
import PushCore

/// Delivery to apps: notifications and responses, data messages, and deletions on the server.
extension AgentEngine {
    /// Passes an event to an app's `AppDelivery`, and follows its directives.
    package mutating func hand(_ event: AppDelivery.Event, to app: BundleID, _ context: Context) {
        var directives = apps[app]?.delivery.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let page = try context.store.waiting(app: app, after: place, limit: limit)
                    directives += apps[app]?.delivery.handle(.page(page, limit: limit)) ?? []
                case .readResponses(let place, let limit):
                    let page = try context.store.waitingResponses(app: app, after: place, limit: limit)
                    directives += apps[app]?.delivery.handle(.responsePage(page, limit: limit)) ?? []
                case .deliver(let notification, let kind):
                    messages.append(.deliver(registry.delivered(notification), kind: kind))
                case .respond(let response):
                    messages.append(
                        .respond(
                            response: response.sequence.rawValue,
                            notification: registry.delivered(response.notification),
                            action: response.action, userText: response.text))
                case .record(let id, let shows, let setsBadge):
                    let allowed = try shown(shows, setsBadge: setsBadge, of: id, app: app, context)
                    enqueue(.handed(id, app: app, shows: allowed, at: context.now))
                case .appear(let notification, let isForApp):
                    let shows = plan(notification.says, app: app, context)?.showing ?? .nothing
                    enqueue(.appeared(notification.id, shows, isForApp: isForApp, at: context.now))
                case .recordResponse(let response):
                    enqueue(.responseHandled(response, app: app, at: context.now))
                }
            }
        } catch {
            return fail(error)
        }
        guard apps[app]?.connection != nil else { return }
        for (step, said) in AgentStep.grouped(messages) { tell(app, said, step) }
        watchAnswers(of: app)
    }

    /// Has what an app is asked about appear when it does not answer in time: it may be stopped or hang.
    private mutating func watchAnswers(of app: BundleID) {
        guard let installed = apps[app], installed.delivery.awaitsAnswers, !installed.isWatched else { return }
        apps[app]?.isWatched = true
        emit(.wait(timing.answerTimeout, then: .answersDue(app)))
    }

    mutating func answersDue(_ app: BundleID, _ context: Context) {
        apps[app]?.isWatched = false
        hand(.answersDue, to: app, context)
        watchAnswers(of: app)
    }

    /// The presentation of a notification that its app has handled: as the app wants, as far as the person's settings
    /// allow. A sound without text is played, and where `setsBadge`, the badge is applied.
    private mutating func shown(
        _ wish: PresentationOptions, setsBadge: Bool, of id: NotificationID, app: BundleID, _ context: Context
    ) throws -> PresentationOptions {
        guard wish != .nothing || setsBadge, let content = try context.store.notification(id)?.says,
            let plan = plan(content, app: app, context)
        else { return wish }
        // A notification that may not appear on the screen at this time is at least in the list.
        let allowed =
            wish.contains(.screen) && plan.showing.isListOnly ? .list : wish.intersection(plan.showing)
        let badge = setsBadge ? plan.badge : nil
        let isHeard = wish.contains(.sound) && !allowed.contains(.screen) && plan.sounds
        guard badge != nil || isHeard, try context.store.isUnhandled(id) else { return allowed }
        if let badge { applyBadge(badge, app: app) }
        if isHeard { play(content.sound, of: app) }
        return allowed
    }

    /// Passes an event to an app's `ChannelDelivery`, and follows its directives.
    package mutating func giveData(_ event: ChannelDelivery.Event, to app: BundleID, _ context: Context) {
        var directives = apps[app]?.channel.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let page = try context.store.waitingData(app: app, after: place, limit: limit, at: context.now)
                    directives += apps[app]?.channel.handle(.page(page, limit: limit)) ?? []
                case .deliver(let message): messages.append(.channel(.message(message.delivered)))
                case .record(let id): enqueue(.dataTaken(id, app: app, at: context.now))
                }
            }
        } catch {
            return fail(error)
        }
        tell(app, messages, .handOver)
    }

    /// Sends a connected app the deletions on the server, until it has confirmed them.
    mutating func tellDeletions(to app: BundleID, _ context: Context) {
        guard apps[app]?.connection != nil else { return }
        do {
            let deletions = try context.store.deletions(app: app)
            tell(
                app,
                deletions.map {
                    .messagesDeleted(deletion: $0.id.rawValue, count: $0.count, since: $0.since.rawValue)
                }, .handOver)
        } catch {
            fail(error)
        }
    }
}
