import AgentWire
import DeviceModel
import DeviceStore
import Logging
import Machine
import Observability
import PushModel

/// One session with the server, from its attempt to its end.
struct Session {
    var number: Int
    var connection: any PushConnection
    var ended: CheckedContinuation<PushCloseReason, Never>?
}

extension Agent {
    /// Enrols where needed and keeps one session open until the task is cancelled.
    func runSessionLoop() async {
        guard let (connector, enrolment) = server else {
            return logger.notice("There is no server: only the apps' own notifications are shown.")
        }
        var backOff = configuration.backOff
        while !Task.isCancelled {
            guard let identity = await enrolled(enrolment, &backOff) else { return }
            let opened = sessionCount
            let reason = await runSession(identity, connector)
            if Task.isCancelled { return }
            // A session that logged in starts the pauses from the beginning.
            if sessionLoggedIn == opened + 1 { backOff.reset() }
            switch reason {
            case .loginRefused: await examine(identity)
            case .lost(let why):
                logger.info("The session ended; it will be opened again.", metadata: [LogKey.error: "\(why)"])
                events(.sessionClosed(reason: why))
            }
            await pause(&backOff)
        }
    }

    /// This device's identity, asked for until there is one; `nil` when the task was cancelled.
    private func enrolled(_ enrolment: any EnrolmentClient, _ backOff: inout BackOff) async -> DeviceIdentity? {
        while !Task.isCancelled {
            if let identity { return identity }
            do throws(EnrolmentFailure) {
                let new = try await enrolment.checkIn(known: nil)
                try adopt(new)
                backOff.reset()
                return new
            } catch {
                logger.warning(
                    "This device could not enrol; it will try again.",
                    metadata: [
                        LogKey.error: "\(error.words)"
                    ])
                await pause(&backOff)
            }
        }
        return nil
    }

    private func adopt(_ new: DeviceIdentity) throws(EnrolmentFailure) {
        let wishing: [String]
        do {
            wishing = try apps.keys.filter { app in
                try store.read { try $0.registration(app: app, environment: configuration.environment) } != .ended
            }
            try store.keep(new)
        } catch {
            throw .unavailable("the agent's store: \(error)")
        }
        identity = new
        logger.notice("This device is enrolled.", metadata: [LogKey.device: "\(new.device)"])
        events(.enrolled(new.device))
        for app in wishing { requestToken(app) }
    }

    /// Asks the server whether it still knows this device, and forgets the identity when it does not.
    func examine(_ doubted: DeviceIdentity) async {
        guard identity == doubted, let (_, enrolment) = server else { return }
        do throws(EnrolmentFailure) {
            _ = try await enrolment.checkIn(known: doubted)
            logger.warning("The server refused this device's login, and knows it all the same; trying again.")
        } catch .notAuthenticated {
            guard identity == doubted else { return }
            logger.warning(
                "The server does not know this device; it enrols anew.",
                metadata: [
                    LogKey.device: "\(doubted.device)"
                ])
            do {
                flush()
                try store.forgetIdentity()
                identity = nil
                session?.connection.close()
            } catch {
                storeFailed(error)
            }
        } catch {
            logger.warning(
                "The server could not be asked about this device.",
                metadata: [
                    LogKey.error: "\(error.words)"
                ])
        }
    }

    private func runSession(_ identity: DeviceIdentity, _ connector: any PushConnector) async -> PushCloseReason {
        flush()
        let received: [NotificationID]
        do {
            received = try store.read { try $0.unconfirmed() }
        } catch {
            return .lost("the agent's store: \(error)")
        }
        sessionCount += 1
        let number = sessionCount
        let connection = connector.connect(identity, received: received) { [weak self] event in
            self?.enter { $0.handlePushEvent(event, of: number) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                session = Session(number: number, connection: connection, ended: continuation)
            }
        } onCancel: {
            connection.close()
        }
    }

    private func handlePushEvent(_ event: PushEvent, of number: Int) {
        guard session?.number == number else { return }
        switch event {
        case .loggedIn:
            sessionLoggedIn = number
            receipts.sessionOpened()
            sendReceipts()
            logger.info("The session is open.", metadata: [LogKey.session: "\(number)"])
            events(.sessionOpened)
        case .arrived(let notifications): arrived(notifications, in: number)
        case .confirmed(let ids): enqueue(.confirmed(ids))
        case .reportConfirmed(let batches):
            for range in batches.compactMap({ receipts.confirmed($0) }) { enqueue(.receiptsConfirmed(range)) }
        case .closed(let reason):
            receipts.sessionClosed()
            let ended = session?.ended
            session = nil
            ended?.resume(returning: reason)
        }
    }

    private func arrived(_ notifications: [OutgoingNotification], in number: Int) {
        let now = parts.now()
        do {
            for notification in notifications {
                enqueue(
                    .arrived(
                        Arrival(
                            notification: notification, session: number, receivedAt: now,
                            disposition: try disposition(of: notification))))
            }
        } catch {
            // The server sends again what was not stored.
            storeFailed(error)
        }
    }

    private func isKnown(_ id: NotificationID) throws -> Bool {
        try batch.arriving.contains(id) || store.read { try $0.isKnown(id) }
    }

    private func disposition(of notification: OutgoingNotification) throws -> Arrival.Disposition {
        guard let app = apps[notification.topic.rawValue] else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        let payload = String(decoding: notification.payload, as: UTF8.self)
        let delivery = PayloadDelivery(payload: payload)
        let content = NotificationContent(payload: payload)
        let plan = conditions(of: app).plan(content)
        let isAllowed = app.standing.authorization(under: app.manifest.authorization).allows
        guard !(isAllowed && app.isInFront) else { return .waits }
        // What comes again sets no badge again.
        if plan.badge != nil, try !isKnown(notification.id) {
            applyBadge(of: content, app: notification.topic.rawValue)
        }
        let wakes = delivery.wakesInBackground || delivery.kind == .background
        guard case .nowhere(let reason) = plan.reach else {
            return app.takesEverything || wakes ? .waitsShown(plan.showing) : .isShown(plan.showing)
        }
        if wakes || isAllowed && app.takesEverything { return .waits }
        if plan.sounds, try !isKnown(notification.id) { play(content.sound, of: app.manifest) }
        if plan.badge != nil || plan.sounds {
            return .ends(.presented, note: "it shows no text: its badge and its sound alone")
        }
        return .ends(.suppressed(.settings), note: reason)
    }

    /// Sends what the outbox holds, as far as the flow allows.
    func sendReceipts() {
        guard let session else { return }
        while let place = receipts.readAfter {
            do {
                let page = try store.read { try $0.receipts(after: place, limit: ReceiptFlow.batchLimit) }
                guard let batch = receipts.batch(page.map(\.sequence)) else { return }
                AgentStep.report.take { session.connection.report(page.map(\.receipt), as: batch) }
            } catch {
                return storeFailed(error)
            }
        }
    }
}

extension EnrolmentFailure {
    /// What went wrong, for people.
    var words: String {
        switch self {
        case .notAuthenticated: "the server wants a valid enrolment key (ALDABA_ENROLMENT_KEY)"
        case .refused(let code): "the server refused: \(code)"
        case .unavailable(let why): why
        }
    }
}
