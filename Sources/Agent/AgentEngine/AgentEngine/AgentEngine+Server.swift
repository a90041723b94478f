import AgentProtocol
import PushCore

/// Handling of notifications from the device channel: each is opened, planned, and stored with its plan.
extension AgentEngine {
    /// Handles notifications that arrived in a session.
    package mutating func arrived(_ notifications: [OutgoingNotification], in session: Int, _ context: Context) {
        do {
            for notification in notifications {
                if let message = notification.channelMessage {
                    let arrived = ReceivedUnifiedPushMessage(carrier: notification, message: message, session: session)
                    enqueue(.unifiedPush(.arrived(arrived), at: context.now))
                    watchExpiry(of: notification.expiresAt, context)
                } else if let notice = notification.notice {
                    noticed(notice, by: notification, in: session, context)
                } else if notification.isDataMessage {
                    dataArrived(notification, in: session, context)
                } else {
                    enqueue(.arrived(try arrival(of: notification, in: session, context)))
                }
            }
        } catch {
            // The server sends again what was not stored.
            fail(error)
        }
    }

    private mutating func noticed(
        _ notice: DeviceNotice, by carrier: OutgoingNotification, in session: Int, _ context: Context
    ) {
        enqueue(
            .noticed(
                ArrivedNotice(
                    carrier: carrier, notice: notice, session: session, receivedAt: context.now,
                    isForInstalledApp: apps[BundleID(carrier.topic)] != nil)))
    }

    /// Stores a data message; it goes to its app's channel after the commit.
    private mutating func dataArrived(_ message: OutgoingNotification, in session: Int, _ context: Context) {
        let app = apps[BundleID(message.topic)]
        enqueue(
            .dataArrived(
                ArrivedData(
                    message: message, session: session, receivedAt: context.now, isForInstalledApp: app != nil,
                    isChannelOpen: app?.channel.isOpen == true)))
        watchExpiry(of: message.expiresAt, context)
    }

    private mutating func arrival(
        of notification: OutgoingNotification, in session: Int, _ context: Context
    ) throws -> Arrival {
        var notification = notification
        let decryption = try decrypt(&notification, context)
        let delivery = PayloadDelivery(payload: String(decoding: notification.payload, as: UTF8.self))
        if case .failed(let failure) = decryption, case .replayed = failure {
            return Arrival(
                notification: notification, session: session, receivedAt: context.now, kind: delivery.kind,
                disposition: .ends(.undecryptable(failure.code), note: failure.sentence))
        }
        var arrival = Arrival(
            notification: notification, session: session, receivedAt: context.now,
            kind: notification.pushType == .voip ? .call : delivery.kind,
            disposition: try disposition(of: notification, delivery, context), decryption: decryption)
        // A sealed payload asks for an extension on devices that cannot decrypt it themselves.
        arrival.lacksExtension =
            decryption == nil && delivery.isMutable && delivery.content.showsText && lacksExtension(notification)
        arrival.hasUnaskedPicture =
            decryption == nil && !(delivery.isMutable && delivery.content.showsText) && delivery.kind != .background
            && PayloadPicture.isNamed(in: notification.payload)
        return arrival
    }

    private func lacksExtension(_ notification: OutgoingNotification) -> Bool {
        guard let app = apps[BundleID(notification.topic)] else { return false }
        return app.manifest.serviceExtension == nil
    }

    private mutating func disposition(
        of notification: OutgoingNotification, _ delivery: PayloadDelivery, _ context: Context
    ) throws -> PlannedNotification.Disposition {
        let app = BundleID(notification.topic)
        if let type = notification.pushType, let manifest = apps[app]?.manifest {
            if let reason = type.missingReceiver(for: manifest) {
                return .ends(.failed(PushType.noReceiver), note: reason)
            }
            if type == .liveactivity { return try activityDisposition(of: notification, context) }
            if type == .voip {
                called.insert(app)
                return .waits
            }
        }
        guard let plan = planned(ReceivedNotification(delivery), for: app, context) else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        if apps[app]?.manifest.serviceExtension != nil, plan.needsExtension(delivery) { return .awaitsExtension }
        // A repeated notification is not reported again.
        if plan.hasBadgeOrSound, try !isDuplicate(notification.id, context) {
            presentBadgeOrSoundOnly(plan, of: app, context)
        }
        return plan.disposition
    }

    func isDuplicate(_ id: NotificationID, _ context: Context) throws -> Bool {
        try batch.arriving.contains(id) || context.store.isKnown(id)
    }

    // MARK: Encrypted payloads

    /// Puts what an encrypted payload holds in its place.
    ///
    /// - Returns: The outcome of decryption; `nil` for a payload that is not encrypted, or that its app decrypts
    ///   itself.
    /// - Throws: when the store cannot be read.
    private mutating func decrypt(
        _ notification: inout OutgoingNotification, _ context: Context
    ) throws -> PayloadDecryption? {
        let app = BundleID(notification.topic)
        guard notification.lane == .apns, apps[app]?.manifest.encryptedPayloads == .agent else { return nil }
        do {
            guard let encrypted = try EncryptedPayload(payload: notification.payload) else { return nil }
            let keys = try context.store.encryptionKeys(app: app, environment: notification.environment)
            let fingerprint = encrypted.message.fingerprint
            let payload = try encrypted.open(with: keys)
            // Only messages that open are recorded: otherwise anyone could block a message by sending its fingerprint
            // first.
            try refuseReplay(of: fingerprint, in: notification.id, context)
            notification.payload = payload
            return .opened(fingerprint: fingerprint)
        } catch let failure as DecryptionError {
            log(
                .warning, "An encrypted payload could not be opened.",
                metadata: [
                    LogKey.notification: "\(notification.id)", LogKey.topic: "\(app)",
                    LogKey.error: "\(failure.code): \(failure.sentence)",
                ])
            return .failed(failure)
        }
    }

    /// Refuses a known message under another id: it is a replay. The server's own repeats have the same internal id.
    private func refuseReplay(of fingerprint: [UInt8], in id: NotificationID, _ context: Context) throws {
        guard let opener = try batch.opening[fingerprint] ?? context.store.opener(of: fingerprint) else { return }
        guard try !isDuplicate(id, context) else { return }
        throw DecryptionError.replayed(of: opener.description)
    }

    // MARK: Service extensions

    /// A service extension has answered for a notification: it is planned again, with the extension's content.
    ///
    /// - Parameter content: The content from the extension; `nil` for that of the payload.
    /// - Returns: The plan by which it is to be stored; `nil` where its app is not installed now.
    package mutating func extended(
        _ notification: WaitingNotification, content: NotificationContent?, context: Context
    ) -> PlannedNotification? {
        var received = ReceivedNotification(PayloadDelivery(payload: notification.payload))
        received.content = content ?? received.content
        guard let plan = planned(received, for: notification.app, context) else { return nil }
        presentBadgeOrSoundOnly(plan, of: notification.app, context)
        return plan
    }
}

/// The direct channels of apps: their requests to the server, and the messages that expire.
extension AgentEngine {
    mutating func handleChannelCommand(
        _ command: ChannelCommand, from app: BundleID, connection: AppConnectionID, context: Context
    ) {
        switch command {
        case .open:
            giveData(.opened, to: app, context)
            sendChannelState(to: app, context)
        case .close: giveData(.closed, to: app, context)
        case .taken(let message): giveData(.taken(NotificationID(rawValue: message)), to: app, context)
        case .send(let request, let draft):
            sendUpstream(
                draft, asker: Confirmation(connection: connection, request: request), of: app, context: context)
        case .endTaken(let upstream): enqueue(.upstreamEndTaken(QueuedUpstream.Place(rawValue: upstream), app: app))
        case .topic(let request, let name, let joins):
            setTopicSubscription(name, joins: joins, Confirmation(connection: connection, request: request), of: app)
        }
    }

    // MARK: The state of the channel

    /// The session with the server began or ended: the apps whose channels are open are notified.
    package mutating func sessionChanged(_ context: Context) {
        for app in apps.keys { sendChannelState(to: app, context) }
    }

    private mutating func sendChannelState(to app: BundleID, _ context: Context) {
        guard apps[app]?.channel.isOpen == true else { return }
        sendMessages(to: app, [.channel(.state(isConnected: context.isConnected))])
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
    mutating func sendUpstreamEnds(to app: BundleID, _ context: Context) {
        guard apps[app]?.connection != nil else { return }
        do {
            sendUpstreamEnds([app: try context.store.endedUpstream(app: app)])
        } catch {
            fail(error)
        }
    }

    mutating func sendUpstreamEnds(_ ended: [BundleID: [EndedUpstream]]) {
        for (app, ends) in ended {
            if !ends.isEmpty, apps[app]?.connection != nil { apps[app]?.attempts.wasTold = true }
            sendMessages(
                to: app, ends.map { .channel(.ended(upstream: $0.sequence.rawValue, id: $0.id, code: $0.code)) })
        }
    }

    // MARK: Topics

    private mutating func setTopicSubscription(_ name: String, joins: Bool, _ asker: Confirmation, of app: BundleID) {
        guard let topic = ChannelRules.topicName(name) else {
            return refuse(
                asker, code: ChannelFault.invalid, "a topic's name has 1 to 900 of a-z, A-Z, 0-9 and -_.~%")
        }
        guard settings.hasServer else {
            return refuse(asker, code: ChannelFault.offline, "this agent has no server")
        }
        let waiter = channelWaiters.add(asker, topic: TopicName(app: app, topic: topic))
        enqueue(.topicChangeRequested(topic, joins: joins, app: app, waiter: waiter))
    }

    mutating func topicChangeRequested(waiter: Int64, fault: String?) {
        if let fault { return answer([channelWaiters.take(waiter)].compactMap(\.self), code: fault) }
        emit(.link(.topicsCommitted))
    }

    /// The server has answered: the callers that wait for the topic are answered, and the request is deleted.
    package mutating func topicAnswered(_ request: TopicChangeRequest, code: String?) {
        enqueue(.topicSettled(request))
        answer(channelWaiters.take(TopicName(app: request.app, topic: request.topic)), code: code)
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
        guard let moment, let pause = expiry.watch(moment, now: context.now) else { return }
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

/// The device tokens of apps: the apps' requests, and the answers. `DeviceTokenRequests` decides which requests are
/// answered.
extension AgentEngine {
    mutating func giveToken(
        _ request: Int64, app: BundleID, connection: AppConnectionID, context: Context
    ) throws {
        var known: String?
        if case .token(let token) = try context.store.registration(app: app, environment: settings.environment) {
            known = token
        }
        let hasServer = settings.hasServer
        switch apps[app]?.tokens.ask(request, known: known, hasServer: hasServer) {
        case .known(let token)?: send([.registered(request: request, token: token)], to: connection)
        case .noServer?:
            refuseToken(
                [request], connection: connection, code: "noServer",
                message: "this agent has no server; start it with --agent-server and --agent-control")
        case .tooMany?, nil:
            refuseToken(
                [request], connection: connection, code: "tooManyRequests",
                message: "\(DeviceTokenRequests.limit) questions wait for an answer already")
        case .waits?: requestToken(app)
        case .waitsForEnd?: break
        }
    }

    private mutating func refuseToken(
        _ requests: [Int64], connection: AppConnectionID, code: String, message: String
    ) {
        send(requests.map { .registrationFailed(request: $0, code: code, message: message) }, to: connection)
    }

    /// Ends an app's registration; answered when the server has done it, or it is known that it has not. The app's
    /// earlier requests for a device token are refused.
    mutating func endToken(_ request: Int64, of app: BundleID, _ connection: AppConnectionID) {
        let asker = Confirmation(connection: connection, request: request)
        guard settings.hasServer else {
            return refuse(asker, code: ChannelFault.offline, "this agent has no server")
        }
        guard let refused = apps[app]?.tokens.end(request) else {
            return refuse(
                asker, code: ChannelFault.tooMany, "\(DeviceTokenRequests.limit) requests of this kind wait already")
        }
        refuseToken(
            refused, connection: connection, code: "unregistered", message: "the app ended its registration meanwhile")
        emit(.link(.requestTokenEnd(app)))
    }

    mutating func requestToken(_ app: BundleID) {
        // The terminal's own notifications never come from a provider.
        if app != AppManifest.terminalID { emit(.link(.requestToken(app))) }
    }

    // MARK: Answers of the server

    /// An app has its device token.
    package mutating func tokenReceived(_ token: String, app: BundleID) {
        let answers = apps[app]?.tokens.received(token) ?? []
        sendMessages(to: app, answers.map { .registered(request: $0, token: token) })
        sendActivityTokens(token, to: app)
        log(.notice, "An app has its device token.", metadata: [LogKey.topic: "\(app)"])
        emit(.registered(app, token: token))
    }

    /// The server has forgotten an app's device token.
    package mutating func tokenEnded(app: BundleID) {
        guard let end = apps[app]?.tokens.completeEndRequests() else { return }
        sendMessages(to: app, end.requests.map { .channel(.accepted(request: $0)) })
        if end.isTokenWanted { requestToken(app) }
    }

    /// The server has not forgotten an app's device token: its code, with which it refuses that, or `nil` where it
    /// could not be asked. The link then goes on asking, unless the app wants a token again.
    package mutating func tokenNotEnded(app: BundleID, code: String?) {
        guard let end = apps[app]?.tokens.failEndRequests(isRefused: code != nil) else { return }
        let sentence =
            code.map { "the server answered \($0)" }
            ?? "the server cannot be reached; it is asked again as long as the agent runs and the app wants no token"
        sendMessages(
            to: app,
            end.requests.map {
                .channel(.refused(request: $0, code: code ?? ChannelFault.offline, message: sentence))
            })
        if end.isTokenWanted { requestToken(app) }
    }

    /// The server will not give the app a token; where its register is the reason, the link goes on asking.
    ///
    /// - Parameter isUnknown: Whether the register has no app of this name and team.
    package mutating func tokenRefused(app: BundleID, code: String, isUnknown: Bool) {
        let requests = apps[app]?.tokens.refused() ?? []
        let team = apps[app].map { "\($0.manifest.team)" } ?? ""
        let sentence =
            isUnknown
            ? "the server's register has no app \(app) of the team \(team). Add it there with `aldaba app create \(app) "
                + "--team \(team)`, or name its team in the app's manifest; it is registered within a minute then"
            : "the server answered \(code)"
        if let connection = apps[app]?.connection {
            refuseToken(requests, connection: connection, code: code, message: sentence)
        }
    }
}
