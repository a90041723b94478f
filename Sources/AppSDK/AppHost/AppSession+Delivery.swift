import AgentProtocol

// The agent's messages to a welcomed app: notifications and responses for the handlers.

extension AppSession {
    mutating func receivedInside(_ message: AgentMessage, _ now: Duration) {
        switch message {
        case .deliver(let notification, let kind): arrived(notification, kind, now)
        case .respond(let id, let notification, let action, let userText):
            arrived(DeliveredResponse(id: id, notification: notification, action: action, userText: userText), now)
        case .handledConfirmed(let ids): deliveries.confirm(ids)
        case .responsesConfirmed(let ids): replies.confirm(ids)
        case .authorizationAnswered(let request, let granted, let reason):
            guard answered(request) else { break }
            if let reason { report("this app may not send notifications: \(reason)") }
            directives.append(.answerAuthorization(request: request, granted: granted))
        case .settings(let request, let settings):
            if answered(request) { directives.append(.answerSettings(request: request, settings)) }
        case .registered(let request, let token): registered(request, token)
        case .registrationFailed(let request, let code, let text):
            registrationFailed(request, code: code, message: text)
        case .centerAnswered(let request, let answer):
            if self.answered(request) { directives.append(.answerCenter(request: request, answer)) }
        case .fetched(let request, let answer):
            if answered(request) { directives.append(.answerMedia(request: request, answer)) }
        case .opened(let request, let answer): opened(request, answer)
        case .enter(let state): directed(state)
        case .openSettings(let notification):
            settingsWish = SettingsWish(notification: notification)
            pump(now)
        case .messagesDeleted(let id, let count, let since):
            deleted(MessageDeletion(id: id, count: count, since: since))
        case .extend(let notification): directives.append(.extend(notification))
        case .expire(let notification): directives.append(.expire(notification))
        case .channel(let event): received(event)
        case .activity(let event): received(event)
        case .welcome, .refused, .managed, .relay, .unknown: break
        }
    }

    mutating func arrived(_ notification: DeliveredNotification, _ kind: DeliveryKind, _ now: Duration) {
        let delivery = Delivery(
            notification: notification, kind: kind, stage: kind == .foreground ? .presentation : .background,
            deadline: .zero)
        switch deliveries.arrive(notification.id, delivery) {
        case .new: pump(now)
        case .pending: break
        case .answered(let outcome): send(.handled(notification: notification.id, outcome: outcome))
        }
    }

    mutating func arrived(_ response: DeliveredResponse, _ now: Duration) {
        switch replies.arrive(response.id, Reply(response: response, deadline: .zero)) {
        case .new:
            if replies.waitingCount > Self.waitingLimit {
                replies.dropOldestWaiting()
                report(
                    "more than \(Self.waitingLimit) of the person's responses wait, since this app has no delegate "
                        + "for them: the oldest are dropped.")
            }
            pump(now)
        case .pending: break
        case .answered: send(.responseHandled(response: response.id))
        }
    }

    /// Passes queued notifications and responses to the app, as far as it is ready for them.
    mutating func pump(_ now: Duration) {
        guard case .finished = launch else { return }
        while deliveries.inProgress.count < Self.inProgressLimit, let (id, item) = deliveries.begin() {
            deliveries.inProgress[id]?.deadline = now + Self.handlerLimit
            switch (item.stage, item.kind) {
            case (.background, .call): directives.append(.handCall(item.notification))
            case (.background, _): directives.append(.handBackground(item.notification))
            case (.presentation, _), (.unasked, _): directives.append(.askPresentation(item.notification))
            }
        }
        handCallReplies(now)
        guard respondentExists else { return offerReplies(now) }
        if let wish = settingsWish {
            settingsWish = nil
            bringToFront(.openSettings(wish.notification))
        }
        while replies.inProgress.count < Self.inProgressLimit, let (id, item) = replies.begin() {
            replies.inProgress[id]?.deadline = now + Self.handlerLimit
            let directive = Directive.handResponse(item.response)
            if item.response.opensApp { bringToFront(directive) } else { directives.append(directive) }
        }
    }

    /// Hands over the answers to calls, which go to a receiver of their own.
    private mutating func handCallReplies(_ now: Duration) {
        guard receivesCalls else { return }
        for (id, item) in replies.waitingItems where item.response.notification.isIncomingCall {
            guard replies.inProgress.count < Self.inProgressLimit else { return }
            replies.beginWaiting(id)
            replies.inProgress[id]?.deadline = now + Self.handlerLimit
            let directive = Directive.handResponse(item.response)
            if item.response.opensApp { bringToFront(directive) } else { directives.append(directive) }
        }
    }

    /// Offers the response that opened the app to the application delegate, where the app has no receiver of responses
    /// yet. The app comes to the front for it.
    mutating func offerReplies(_ now: Duration) {
        for (id, item) in replies.waitingItems where item.response.opensApp && !item.isOffered {
            guard replies.inProgress.count < Self.inProgressLimit else { return }
            replies.beginWaiting(id)
            replies.inProgress[id]?.isOffered = true
            replies.inProgress[id]?.deadline = now + Self.handlerLimit
            bringToFront(.offerOpening(item.response))
        }
    }

    mutating func openingAnswered(_ id: Int64, isTaken: Bool, at now: Duration) {
        guard !isTaken else { return responseHandled(id, now) }
        replies.restore(id)
        pump(now)
    }

    mutating func backgroundHandled(_ id: Int64, result: BackgroundResult, at now: Duration) {
        guard let delivery = deliveries.inProgress[id] else { return }
        switch (delivery.stage, delivery.kind) {
        case (.presentation, _): break
        case (.unasked, _): handled(id, outcome: .notPresented, at: now)
        case (.background, .foregroundAndBackground):
            deliveries.inProgress[id]?.stage = .presentation
            deliveries.inProgress[id]?.deadline = now + Self.handlerLimit
            directives.append(.askPresentation(delivery.notification))
        case (.background, _): handled(id, outcome: .background(result), at: now)
        }
    }

    mutating func presentationAnswered(_ id: Int64, options: UInt, at now: Duration) {
        guard let delivery = deliveries.inProgress[id], delivery.stage == .presentation else { return }
        handled(id, outcome: options == 0 ? .notPresented : .presented(options: options), at: now)
    }

    /// Delivers a notification to the application delegate, once, when it is remote and no receiver chooses its
    /// presentation.
    mutating func presentationUnasked(_ id: Int64, _ now: Duration) {
        guard let delivery = deliveries.inProgress[id], delivery.stage == .presentation else { return }
        guard delivery.kind == .foreground, delivery.notification.isRemote else {
            return handled(id, outcome: .notPresented, at: now)
        }
        deliveries.inProgress[id]?.stage = .unasked
        directives.append(.handBackground(delivery.notification))
    }

    mutating func handled(_ id: Int64, outcome: HandledOutcome, at now: Duration) {
        guard deliveries.answer(id, outcome) else { return }
        send(.handled(notification: id, outcome: outcome))
        checkConfirmations()
        pump(now)
    }

    mutating func responseHandled(_ id: Int64, _ now: Duration) {
        guard replies.answer(id, ()) else { return }
        send(.responseHandled(response: id))
        checkConfirmations()
        pump(now)
    }

    /// An agent that confirms nothing would fill the memory. On a new connection every answer is sent again.
    mutating func checkConfirmations() {
        guard connection.link == .welcomed,
            deliveries.answeredCount + replies.answeredCount + channel.messages.answeredCount > Self.unconfirmedLimit
        else { return }
        report("the agent confirms nothing that this app has handled; it is called again.")
        leave(slowly: true)
    }

    mutating func timePassed(_ now: Duration) {
        if case .waiting(let until) = launch, until <= now { runLaunch(.active, nil) }
        for (id, delivery) in deliveries.inProgress.sorted(by: { $0.key < $1.key }) where delivery.deadline <= now {
            switch delivery.stage {
            case .background, .unasked: backgroundHandled(id, result: .failed, at: now)
            case .presentation: presentationAnswered(id, options: 0, at: now)
            }
        }
        for (id, reply) in replies.inProgress.sorted(by: { $0.key < $1.key }) where reply.deadline <= now {
            responseHandled(id, now)
        }
    }
}
