import FCMProtocol
import Hummingbird
import Logging
import PushCore
import PushServer

/// The route `POST /v1/projects/{project}/messages:send`.
struct MessageRoute: Sendable {
    let access: FCMAccess
    let gate: MessageTargetValidator
    let quotas: SendQuotas
    let throttles: DeviceThrottles
    let acceptor: any NotificationAcceptor
    let audiences: (any AudienceSender)?
    let metrics: FCMMetrics

    func respond(_ request: Request, project: String, logger: Logger) async -> Response {
        let team: TeamID
        do { team = try await access.account(request).team } catch {
            let refusal = FCMRejection.of(error, logger: logger)
            metrics.refused(refusal)
            if refusal.status == .unauthenticated {
                CredentialRefusals.log("FCM, \(refusal.message)", to: logger)
            }
            return .fcm(refusal)
        }
        do {
            let name = try await send(request, project: project, team: team)
            return .fcm(JSONValue.object([.init("name", .string(name))]).bytes)
        } catch let refused as MessageTargetValidator.Refused {
            metrics.refused(refused.refusal)
            return .fcm(refused.refusal, noted: recordRefusal(refused, team))
        } catch {
            let refusal = FCMRejection.of(error, logger: logger)
            metrics.refused(refusal)
            // A failure of the server is no refusal of the message: it is sent again.
            guard refusal.status != .unavailable else { return .fcm(refusal) }
            return .fcm(refusal, noted: recordRefusal(MessageTargetValidator.Refused(refusal: refusal), team))
        }
    }

    /// Writes a refusal into a timeline, and returns the timeline's id.
    func recordRefusal(_ refused: MessageTargetValidator.Refused, _ team: TeamID) -> String? {
        acceptor.recordRefusal(
            code: refused.refusal.timelineCode, note: refused.refusal.note, team: team, topic: refused.topic,
            apnsID: nil)?.description
    }

    /// - Returns: The message's name.
    private func send(_ request: Request, project: String, team: TeamID) async throws -> String {
        let isUnknownProject = access.accounts.unknownProject(of: team) == project
        guard ProjectName.names(project, team) || isUnknownProject else {
            throw FCMRejection(
                .permissionDenied,
                "the service account sends for project \(ProjectName.id(of: team)), not for \(project.prefix(64))",
                reason: "IAM_PERMISSION_DENIED")
        }
        try checkQuota(team)
        let body = try await request.wholeBody()
        let asked = try FCMRequest(body: Array(buffer: body))
        let id = try await send(asked.message, team: team, isDryRun: asked.isDryRun).id
        return isUnknownProject ? name(of: id, project: project) : name(of: id, project: ProjectName.id(of: team))
    }

    /// The outcome of a message that was accepted.
    struct Sent: Sendable {
        /// The first device's message; `nil` for one that was only checked.
        var id: NotificationID?
        /// The number of devices for which it was stored.
        var accepted = 0
        /// The members of a device group to which it could not be sent.
        var refused: [MessageTargetValidator.Refused] = []
    }

    /// Checks the quota of a project.
    func checkQuota(_ team: TeamID) throws(FCMRejection) {
        guard let seconds = quotas.take(team, at: acceptor.now) else { return }
        throw FCMRejection(
            .quotaExceeded,
            "the project has sent its messages of this minute; send again after the time of Retry-After",
            retryAfter: seconds)
    }

    /// Sends a message to its target.
    func send(_ message: FCMMessage, team: TeamID, isDryRun: Bool) async throws -> Sent {
        let content = try message.content()
        let (addressees, refused): ([MessageTargetValidator.Addressee], [MessageTargetValidator.Refused])
        switch message.target {
        case .token(let token): (addressees, refused) = try await gate.addressees(of: token, team: team)
        case .fid(let id): (addressees, refused) = (try await gate.addressees(ofInstallation: id, team: team), [])
        case .topic, .condition:
            guard message.apns?.isForLiveActivity != true else {
                throw FCMRejection.invalid(
                    Self.activityField, "a Live Activity is one device's; the message must name a device, not a topic")
            }
            guard let audiences else {
                throw FCMRejection.invalid("message", "this server sends to tokens and device groups alone")
            }
            let app = try await onlyApp(of: message, team: team)
            return Sent(id: try await audiences.send(message, of: app, team: team, isDryRun: isDryRun), accepted: 1)
        }
        if let package = message.android?.package {
            for addressee in addressees where addressee.app.topic.rawValue != package {
                throw MessageTargetValidator.Refused(
                    refusal: .invalid(Self.packageField, "the registration token is not one of this app"),
                    topic: addressee.app.topic.rawValue)
            }
        }
        guard !isDryRun else { return Sent(accepted: addressees.count, refused: refused) }
        var acceptances: [AcceptedNotification] = []
        var left: [NotificationID] = []
        for addressee in addressees {
            if message.apns?.isForLiveActivity == true, try await gate.isAgent(addressee) {
                left.append(try leave(addressee, message: message, team: team))
                continue
            }
            // Most messages have no part for browsers: nothing is looked up for those.
            let isBrowser = try await (message.webpush == nil ? false : gate.isBrowser(addressee))
            let readers: FCMReaders = isBrowser ? .browsers : .agents
            let delivery = FCMDelivery(message, isShown: content.isShown, now: acceptor.now, readers: readers)
            let bytes = content.bytes(team: team, delivery: delivery, readers: readers)
            acceptances.append(acceptance(addressee, delivery: delivery, content: bytes))
        }
        try throttle(acceptances)
        for each in refused { _ = recordRefusal(each, team) }
        if acceptances.isEmpty, let first = left.first { return Sent(id: first, accepted: left.count) }
        let ids = await AcceptanceAnswers.of(acceptances, by: acceptor)
        guard let first = ids.lazy.compactMap({ $0 }).first else { throw FCMRejection.notNow }
        // Some members have the message: after a refusal the library would send it again, and they would have it twice.
        var failed = refused
        for (each, id) in zip(acceptances, ids) where id == nil {
            failed.append(MessageTargetValidator.Refused(refusal: Self.notStored, topic: each.app.topic.rawValue))
            _ = recordRefusal(
                MessageTargetValidator.Refused(refusal: Self.notStored, topic: each.app.topic.rawValue), team)
        }
        return Sent(id: first, accepted: ids.count { $0 != nil }, refused: failed)
    }

    /// Sends nothing to an agent for a message to a Live Activity, and records the reason in a timeline.
    private func leave(
        _ addressee: MessageTargetValidator.Addressee, message: FCMMessage, team: TeamID
    ) throws -> NotificationID {
        let noted = acceptor.recordRefusal(
            code: PushType.noReceiver,
            note:
                "\(Self.activityField): a Live Activity gets its pushes through APNs here, and the app's own token was not meant",
            team: team, topic: addressee.app.topic.rawValue, apnsID: message.apns?.id.map(APNsID.init(rawValue:)))
        guard let noted else { throw FCMRejection.notNow }
        return noted
    }

    private static let activityField = "message.apns.live_activity_token"

    private static let notStored = FCMRejection(
        .unavailable, "the message was stored for other devices of those that it names, and could not be for this one")

    private static let packageField = "message.android.restricted_package_name"

    /// The only app to which a message for many may go; `nil` where it specifies none.
    private func onlyApp(of message: FCMMessage, team: TeamID) async throws -> AppID? {
        guard let package = message.android?.package else { return nil }
        guard let app = try await gate.apps.find(Topic(rawValue: package)), app.team == team else {
            throw FCMRejection.invalid(Self.packageField, "the project has no app of this name")
        }
        return app.id
    }

    private func throttle(_ acceptances: [AcceptedNotification]) throws {
        let full = throttles.take(
            acceptances.map { ($0.subject, $0.notification.collapseID != nil) }, at: acceptor.now)
        guard let full else { return }
        throw MessageTargetValidator.Refused(
            refusal: FCMRejection(
                .quotaExceeded, "the device was sent too many messages; send again after the time of Retry-After",
                retryAfter: full.seconds), topic: acceptances[full.place].app.topic.rawValue)
    }

    /// Counts an accepted message, and returns its name.
    ///
    /// - Parameter id: `nil` for one that was only checked, which gets FCM's name for such messages.
    private func name(of id: NotificationID?, project: String) -> String {
        guard let id else {
            metrics.checked.increment()
            return "projects/\(project)/messages/fake_message_id"
        }
        metrics.accepted.increment()
        return "projects/\(project)/messages/\(id)"
    }

    private func acceptance(
        _ addressee: MessageTargetValidator.Addressee, delivery: FCMDelivery, content: [UInt8]
    ) -> AcceptedNotification {
        var acceptance = AcceptedNotification(
            app: addressee.app, subject: addressee.subject,
            notification: Notification(
                apnsID: delivery.apnsID, topic: addressee.app.topic, pushType: delivery.pushType,
                priority: delivery.priority, expiry: delivery.expiry, collapseID: delivery.collapseID,
                content: .fcm(content)), ticket: 0,
            note: addressee.group.map { "to the device group \($0)" })
        acceptance.namesItself = true
        return acceptance
    }
}
