import AgentWire
import AppConnections
import AppConversation
import DeviceLink
import DeviceModel
import DeviceStore
import PushModel

/// What apps ask of their server: messages to their providers, and topics.
extension Agent: AppRequestDelegate {
    // MARK: What apps ask

    func sendUpstream(_ draft: UpstreamDraft, request: Int64, app: BundleID, _ connection: AppConnection) {
        let confirmation = Confirmation(connection: connection, request: request)
        if let (code, message) = ChannelRules.fault(in: draft) { return refuse(confirmation, code: code, message) }
        if draft.timeToLive == 0, onLink({ $0.isOpen }) != true {
            return refuse(
                confirmation, code: ChannelFault.offline, "there is no session with the server now")
        }
        enqueue(.upstreamQueued(draft, app: app, waiter: channelWaiters.add(confirmation), at: parts.now()))
    }

    func changeTopic(_ topic: String, joins: Bool, request: Int64, app: BundleID, _ connection: AppConnection) {
        let confirmation = Confirmation(connection: connection, request: request)
        guard let topic = ChannelRules.topicName(topic) else {
            return refuse(
                confirmation, code: ChannelFault.invalid, "a topic's name has 1 to 900 of a-z, A-Z, 0-9 and -_.~%")
        }
        guard link != nil else {
            return refuse(confirmation, code: ChannelFault.offline, "this agent has no server")
        }
        let waiter = channelWaiters.add(confirmation, topic: TopicName(app: app, topic: topic))
        enqueue(.topicWished(topic, joins: joins, app: app, waiter: waiter))
    }

    /// Tells an app what became of its messages, as far as it does not know.
    func tellEnds(to app: BundleID) {
        guard let connection = apps[app]?.connection else { return }
        do {
            let ended = try store.read { try $0.endedUpstream(app: app) }
            if !ended.isEmpty { connection.send(ended.map(Self.message)) }
        } catch {
            storeFailed(error)
        }
    }

    private static func message(_ end: EndedUpstream) -> AgentMessage {
        .channel(.ended(upstream: end.sequence, id: end.id, code: end.code))
    }

    private func refuse(_ confirmation: Confirmation, code: String, _ message: String) {
        confirmation.connection.send([
            .channel(.refused(request: confirmation.request, code: code, message: message))
        ])
    }

    // MARK: What follows a commit

    func upstreamQueued(waiter: Int64, fault: String?) {
        guard let confirmation = channelWaiters.take(waiter) else { return }
        answer([confirmation], code: fault)
        if fault == nil {
            onLink { $0.upstreamCommitted() }
            resumeData()
        }
    }

    func upstreamEnded(_ ended: [BundleID: [EndedUpstream]]) {
        for (app, ends) in ended { apps[app]?.connection?.send(ends.map(Self.message)) }
    }

    func topicWished(waiter: Int64, fault: String?) {
        if let fault { return answer([channelWaiters.take(waiter)].compactMap(\.self), code: fault) }
        onLink { $0.topicsCommitted() }
    }

    private func answer(_ waiting: [Confirmation], code: String?) {
        for confirmation in waiting {
            if let code {
                refuse(confirmation, code: code, "it was refused: \(code)")
            } else {
                confirmation.connection.send([.channel(.accepted(request: confirmation.request))])
            }
        }
    }

    // MARK: What the link tells

    /// Stores what became of a message, and tells its app.
    package nonisolated func upstreamEnded(_ sequence: Int64, code: String?) {
        assumeIsolated { $0.enqueue(.upstreamEnded(sequence, code: code)) }
    }

    /// Answers who waits for a topic, and forgets the wish.
    package nonisolated func topicAnswered(_ wish: TopicWish, code: String?) {
        assumeIsolated { agent in
            agent.enqueue(.topicSettled(wish))
            agent.answer(agent.channelWaiters.take(TopicName(app: wish.app, topic: wish.topic)), code: code)
        }
    }
}
