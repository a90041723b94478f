import AgentProtocol
import PushCore

/// The direct channels of apps: their requests to the server, and the messages that expire.
extension AgentEngine {
    mutating func handleChannelCommand(
        _ command: ChannelCommand, from app: BundleID, connection: AppConnectionID, context: Context
    ) {
        switch command {
        case .open:
            giveData(.opened, to: app, context)
            tellChannel(to: app, context)
        case .close: giveData(.closed, to: app, context)
        case .taken(let message): giveData(.taken(NotificationID(rawValue: message)), to: app, context)
        case .send(let request, let draft):
            sendUpstream(
                draft, asker: Confirmation(connection: connection, request: request), of: app, context: context)
        case .endTaken(let upstream): enqueue(.upstreamEndTaken(QueuedUpstream.Place(rawValue: upstream), app: app))
        case .topic(let request, let name, let joins):
            changeTopic(name, joins: joins, Confirmation(connection: connection, request: request), of: app)
        }
    }

    // MARK: The state of the channel

    /// The session with the server began or ended: the apps whose channels are open are notified.
    package mutating func sessionChanged(_ context: Context) {
        for app in apps.keys { tellChannel(to: app, context) }
    }

    private mutating func tellChannel(to app: BundleID, _ context: Context) {
        guard apps[app]?.channel.isOpen == true else { return }
        tell(app, [.channel(.state(isConnected: context.isConnected))])
    }

    // MARK: Messages to providers

    private mutating func sendUpstream(
        _ draft: UpstreamDraft, asker: Confirmation, of app: BundleID, context: Context
    ) {
        if let (code, message) = ChannelRules.fault(in: draft) { return refuse(asker, code: code, message) }
        if draft.timeToLive == 0, !context.isConnected {
            return refuse(asker, code: ChannelFault.offline, "there is no session with the server now")
        }
        enqueue(.upstreamQueued(draft, app: app, waiter: channelWaiters.add(asker), at: context.now))
    }

    mutating func upstreamQueued(waiter: Int64, fault: String?, _ context: Context) {
        guard let asker = channelWaiters.take(waiter) else { return }
        answer([asker], code: fault)
        if fault == nil {
            emit(.link(.upstreamCommitted))
            resumeExpiry(context)
        }
    }

    /// Sends an app the outcomes of its messages that it has not confirmed.
    mutating func tellEnds(to app: BundleID, _ context: Context) {
        guard apps[app]?.connection != nil else { return }
        do {
            tellEnds([app: try context.store.endedUpstream(app: app)])
        } catch {
            fail(error)
        }
    }

    mutating func tellEnds(_ ended: [BundleID: [EndedUpstream]]) {
        for (app, ends) in ended {
            tell(app, ends.map { .channel(.ended(upstream: $0.sequence.rawValue, id: $0.id, code: $0.code)) })
        }
    }

    // MARK: Topics

    private mutating func changeTopic(_ name: String, joins: Bool, _ asker: Confirmation, of app: BundleID) {
        guard let topic = ChannelRules.topicName(name) else {
            return refuse(
                asker, code: ChannelFault.invalid, "a topic's name has 1 to 900 of a-z, A-Z, 0-9 and -_.~%")
        }
        guard settings.hasServer else {
            return refuse(asker, code: ChannelFault.offline, "this agent has no server")
        }
        let waiter = channelWaiters.add(asker, topic: TopicName(app: app, topic: topic))
        enqueue(.topicWished(topic, joins: joins, app: app, waiter: waiter))
    }

    mutating func topicWished(waiter: Int64, fault: String?) {
        if let fault { return answer([channelWaiters.take(waiter)].compactMap(\.self), code: fault) }
        emit(.link(.topicsCommitted))
    }

    /// The server has answered: the callers that wait for the topic are answered, and the wish is deleted.
    package mutating func topicAnswered(_ wish: TopicWish, code: String?) {
        enqueue(.topicSettled(wish))
        answer(channelWaiters.take(TopicName(app: wish.app, topic: wish.topic)), code: code)
    }

    private mutating func answer(_ waiting: [Confirmation], code: String?) {
        for asker in waiting {
            if let code {
                refuse(asker, code: code, "it was refused: \(code)")
            } else {
                send([.channel(.accepted(request: asker.request))], to: asker.connection)
            }
        }
    }

    mutating func refuse(_ asker: Confirmation, code: String, _ message: String) {
        send([.channel(.refused(request: asker.request, code: code, message: message))], to: asker.connection)
    }

    // MARK: Expiry

    /// Ends what has expired when this moment has come.
    mutating func watchExpiry(of moment: Timestamp?, _ context: Context) {
        guard let moment, let pause = expiry.note(moment, now: context.now) else { return }
        emit(.wait(.milliseconds(pause), then: .expire(moment)))
    }

    /// Takes up what may expire next, of what the store has.
    package mutating func resumeExpiry(_ context: Context) {
        do {
            watchExpiry(of: try context.store.nextExpiry(), context)
        } catch {
            fail(error)
        }
    }

    mutating func expire(_ moment: Timestamp, _ context: Context) {
        guard expiry.passed(moment) else { return }
        enqueue(.dataExpired(at: context.now))
        enqueue(.upstreamExpired(at: context.now))
        emit(.resumeExpiry)
    }
}
