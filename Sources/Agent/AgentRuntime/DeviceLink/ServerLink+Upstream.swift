import AgentEngine
import AgentProtocol
import DeviceChannel
import Foundation
import Logging
import Networking
import PushCore
import WebPushProtocol

/// The outbox of apps' messages, and the topics that apps want to join or leave, as a link reads them. Used on the
/// link's event loop only.
package protocol AppRequestStore {
    /// Takes messages to send: the first `limit` after a place in the outbox. Once this returns it is durable that the
    /// server may know of them.
    func takeUpstream(after place: QueuedUpstream.Place, limit: Int) throws -> [QueuedUpstream]
    /// The topics that wait, of apps that have device tokens, and each app's token.
    func pendingTopicChanges(
        after place: TopicChangeRequest.Place, limit: Int, environment: PushEnvironment
    ) throws -> [(request: TopicChangeRequest, token: String)]
    /// The next request to the server about a channel of UnifiedPush; `nil` where there is none.
    func pendingChannel() throws -> PendingChannel?
    /// A registration of UnifiedPush that has an endpoint; `nil` where there is none.
    func channelWithEndpoint() throws -> UnifiedPushRegistration?
}

/// Receives the outcome of apps' messages and topic changes. Called on the link's event loop.
package protocol AppRequestDelegate {
    /// The server has a message of the outbox; or refused it, with this code.
    func upstreamEnded(_ sequence: QueuedUpstream.Place, code: String?)
    /// The server has done what an app wanted of a topic; or refused it, with this code.
    func topicAnswered(_ request: TopicChangeRequest, code: String?)
    /// The server has given the endpoint of a channel.
    func endpointReceived(_ endpoint: String, of registration: UnifiedPushRegistration)
    /// The server refuses to give a channel an endpoint.
    func endpointRefused(of registration: UnifiedPushRegistration)
    /// The server has forgotten a channel.
    func channelEnded(_ channel: PushChannelID)
    /// The server cannot be asked about channels now; it is asked again.
    func channelsUnavailable()
    /// The server does not know this device any more: all endpoints are invalid.
    func endpointsLost()
}

/// Messages of apps to their providers, and topics.
extension ServerLink {
    /// Messages were committed: they go upstream as soon as the flow allows.
    package func upstreamCommitted() {
        upstream.committed()
        sendUpstream()
    }

    /// Sends what the outbox holds, as far as the flow allows.
    func sendUpstream() {
        guard let session, let store = parts.store as? any AppRequestStore else { return }
        while let (place, limit) = upstream.read {
            do {
                let page = try store.takeUpstream(after: place, limit: limit)
                upstream.send(page.map { ($0.sequence, $0.persistentID) }, of: limit)
                for message in page { session.connection.send(message) }
            } catch {
                delegate?.storeUnusable(error)
                return
            }
        }
    }

    /// The server has confirmed these names, of any kind.
    func upstreamConfirmed(_ names: [String]) {
        let ends = names.compactMap { upstream.confirmed($0) }
        for end in ends { (delegate as? any AppRequestDelegate)?.upstreamEnded(end.sequence, code: end.code) }
        if !ends.isEmpty { sendUpstream() }
    }

    // MARK: Topics

    /// An app wants something of a topic, or has its device token now.
    package func topicsCommitted() { topicSignals.continuation.yield() }

    /// Sends the apps' topic changes to the server, in order, until the task is cancelled.
    func runTopicLoop() async {
        var backOff = settings.backOff
        for await _ in topicSignals.stream {
            while !Task.isCancelled, await !processTopics() { await pause(&backOff) }
            backOff.reset()
        }
    }

    /// - Returns: `false` when there is a reason to try again soon.
    private func processTopics() async -> Bool {
        guard let store = parts.store as? any AppRequestStore else { return true }
        var place: TopicChangeRequest.Place = 0
        // Without an identity the session's keeper is enrolling; the tokens that follow signal.
        while let identity {
            do {
                let next = try store.pendingTopicChanges(after: place, limit: 1, environment: settings.environment)
                    .first
                guard let (request, token) = next else { return true }
                place = request.sequence
                guard await process(request, token, as: identity) else { return false }
            } catch {
                delegate?.storeUnusable(error)
                return false
            }
        }
        return true
    }

    /// - Returns: Whether the server has answered.
    private func process(_ request: TopicChangeRequest, _ token: String, as identity: DeviceIdentity) async -> Bool {
        do throws(EnrolmentError) {
            try await parts.enrolment.setTopicSubscription(
                identity, topic: Topic(request.app), token: token, name: request.topic, joins: request.joins)
            (delegate as? any AppRequestDelegate)?.topicAnswered(request, code: nil)
            return true
        } catch .refused(let code) {
            logger.warning(
                "The server refused what an app wants of a topic.",
                metadata: [LogKey.topic: "\(request.app)", LogKey.error: "\(code)"])
            (delegate as? any AppRequestDelegate)?.topicAnswered(request, code: code)
            return true
        } catch .notAuthenticated {
            await examine(identity)
        } catch {
            logger.info(
                "A topic could not be joined or left; it will be tried again.",
                metadata: [LogKey.topic: "\(request.app)", LogKey.error: "\(error.words)"])
        }
        return false
    }
}

extension MCSDataMessageStanza {
    /// The stanza of an app's message to its provider: category the app, `app_data` its keys.
    init(_ message: QueuedUpstream, now: Timestamp) {
        self.init()
        id = message.draft.id
        persistentID = message.persistentID
        to = message.draft.to
        category = message.app.rawValue
        ttl = Int32(clamping: message.draft.timeToLive)
        sent = message.sentAt.rawValue
        queued = Int32(clamping: max(0, now.rawValue - message.sentAt.rawValue) / 1000)
        appData = message.draft.data.sorted { $0.key < $1.key }.map { key, value in
            var pair = MCSAppData()
            pair.key = key
            pair.value = value
            return pair
        }
    }
}
