import APNsProtocol
import Networking
import PushCore
import PushServer

/// The checks of a device push, in the order that this module's README specifies.
struct DevicePushGate: Sendable {
    let credentials: CredentialDirectory
    let certificates: CertificateDirectory
    let apps: AppDirectory
    let tokens: TokenDirectory
    /// The environment that this endpoint serves.
    let environment: PushEnvironment
    /// The broadcast channels of apps; `nil` where there are none.
    var channels: BroadcastChannels?
    /// Adds unknown apps and devices; `nil` where they are refused.
    var onDemand: OnDemandRegister?
    /// The server's time at a time of the senders' clocks.
    var senderTime: @Sendable (Timestamp) -> Timestamp = { $0 }

    /// The decision on a request.
    enum Decision {
        case accept(AcceptedNotification)
        case refuse(APNsRejection, of: Requester?)
        /// The credential is not valid; with the key of its token, or the certificate, where the register has it.
        case refuseCredential(APNsRejection, CredentialDirectory.KnownKey?)
        /// Something must be read from the store first; the caller then decides again.
        case lookUp(LookUp)
    }

    /// The known sender of a refused request, for the refusal's timeline.
    struct Requester: Sendable {
        var team: TeamID
        var topic: String
        var apnsID: APNsID?
    }

    /// The data that must be read first.
    enum LookUp: Sendable {
        case credential([UInt8])
        case certificate([UInt8])
        /// The topic, for a sender of this team.
        case topic(Topic, for: TeamID)
        /// The token, for this app.
        case token(DeviceToken, for: RegisteredApp)
    }

    /// The results of a request's look-ups, which replace the directories' cached results where they could not cache them.
    struct Found: Sendable {
        var credential: CredentialDirectory.CachedVerdict?
        var certificate: CertificateDirectory.CachedVerdict?
        var topics: [Topic: AppDirectory.CachedResult] = [:]
        var token: TokenDirectory.Resolution?
    }

    /// The cache of a connection between its requests.
    struct Memory {
        var credential = CredentialDirectory.Memory()
        /// The certificate that the provider presented, if any: then it is the credential, and no token is.
        var certificate: CertificateDirectory.Memory?
        var app = AppDirectory.Memory()
    }

    /// Decides on a request. Takes ownership of the body only when it accepts.
    func decide(
        _ head: APNsRequestHead, body: [UInt8], fault: HTTP2Request.Fault?, found: Found, memory: inout Memory,
        ticket: Int32
    ) -> Decision {
        guard fault != .headersTooLarge else { return refuseHeaders(head, found: found, memory: &memory) }
        guard head.isPost else { return .refuse(APNsRejection(.methodNotAllowed), of: nil) }
        let path = head.path
        if case .other = path { return .refuse(APNsRejection(.badPath), of: nil) }
        let sender: Sender
        switch self.sender(head, found: found, memory: &memory) {
        case .known(let known): sender = known
        case .refused(let refusal, let key): return .refuseCredential(refusal, key)
        case .lookUp(let lookUp): return .lookUp(lookUp)
        }
        do throws(APNsRejection) {
            return try decide(
                head, path: path, sender: sender, body: body, fault: fault, found: found, memory: &memory,
                ticket: ticket)
        } catch {
            return .refuse(error, of: sender.requester(head))
        }
    }

    /// Decides on a request of a team whose credential was checked elsewhere.
    func decide(_ head: APNsRequestHead, body: [UInt8], of team: TeamID, found: Found) -> Decision {
        let path = head.path
        if case .other = path { return .refuse(APNsRejection(.badPath), of: nil) }
        let sender = Sender(team: team)
        var memory = Memory()
        do throws(APNsRejection) {
            return try decide(
                head, path: path, sender: sender, body: body, fault: nil, found: found, memory: &memory, ticket: 0)
        } catch {
            return .refuse(error, of: sender.requester(head))
        }
    }

    /// Refuses a head with fields beyond the limits, which are not in it. The credential may be one of them.
    private func refuseHeaders(_ head: APNsRequestHead, found: Found, memory: inout Memory) -> Decision {
        let limits = HTTP2Limits()
        let refusal = APNsRejection(
            .badRequestParams,
            note: "the header has more than \(limits.headerBytes) bytes or \(limits.headerFields) fields")
        switch sender(head, found: found, memory: &memory) {
        case .known(let sender): return .refuse(refusal, of: sender.requester(head))
        case .refused: return .refuse(refusal, of: nil)
        case .lookUp(let lookUp): return .lookUp(lookUp)
        }
    }

    /// The sender of a request: a team, by a provider token or by a certificate.
    struct Sender {
        var team: TeamID
        /// The certificate; `nil` where there is a token.
        var certificate: CertificateDirectory.Credential?

        /// The topic of a request. A certificate may imply it, and limits it.
        func topic(of head: APNsRequestHead) throws(APNsRejection) -> ArraySlice<UInt8> {
            guard let certificate else { return try head.topic() }
            guard head.hasTopic else { return ArraySlice(try certificate.topic(nil).rawValue.utf8) }
            let topic = try head.topic()
            _ = try certificate.topic(Topic(rawValue: String(decoding: topic, as: UTF8.self)))
            return topic
        }

        /// The requester of a refused request, whose topic may be what is wrong.
        func requester(_ head: APNsRequestHead) -> Requester {
            let topic = try? topic(of: head)
            return Requester(
                team: team, topic: topic.map { String(decoding: $0, as: UTF8.self) } ?? "", apnsID: head.validAPNsID)
        }

        func check(_ type: PushType?) throws(APNsRejection) {
            guard certificate != nil, let type, !CertificateDirectory.Credential.allows(type) else { return }
            throw APNsRejection(
                .topicDisallowed, note: "apns-push-type \(type.rawValue) takes a provider token, not a certificate")
        }
    }

    enum SenderLookup {
        case known(Sender)
        case refused(APNsRejection, CredentialDirectory.KnownKey?)
        case lookUp(LookUp)
    }

    /// The sender of a request. With both a certificate and a token APNs uses the certificate.
    func sender(_ head: APNsRequestHead, found: Found, memory: inout Memory) -> SenderLookup {
        guard var shown = memory.certificate else { return sender(byToken: head, found: found, memory: &memory) }
        var verdict = certificates.known(&shown, in: environment)
        memory.certificate = shown
        if case .needsLookUp = verdict, let known = found.certificate { verdict = known }
        switch verdict {
        case .credential(let credential): return .known(Sender(team: credential.team, certificate: credential))
        case .refused(let refusal, let key): return .refused(refusal, key)
        case .needsLookUp: return .lookUp(.certificate(shown.der))
        }
    }

    private func sender(
        byToken head: APNsRequestHead, found: Found, memory: inout Memory
    ) -> SenderLookup {
        var credential = credentials.known(head.authorization, &memory.credential)
        if case .needsLookUp = credential, let known = found.credential { credential = known }
        switch credential {
        case .credential(let credential): return .known(Sender(team: credential.team))
        case .refused(let refusal, let key): return .refused(refusal, key)
        case .needsLookUp: return .lookUp(.credential(Array(head.authorization ?? [])))
        }
    }

    /// The checks after the credential.
    private func decide(
        _ head: APNsRequestHead, path: APNsRequestHead.Path, sender: Sender, body: [UInt8],
        fault: HTTP2Request.Fault?,
        found: Found, memory: inout Memory, ticket: Int32
    ) throws(APNsRejection) -> Decision {
        if let refusal = head.duplicateRefusal { throw refusal }
        let fields = try head.fields()
        let app: RegisteredApp
        let pushType: PushType?
        switch try addressee(try sender.topic(of: head), fields.pushType, found: found, memory: &memory) {
        case .app(let known, let type): (app, pushType) = (known, type)
        case .lookUp(let topic): return .lookUp(.topic(topic, for: sender.team))
        }
        // Tests send to one app by a team each.
        guard app.team == sender.team || onDemand?.kinds.contains(.apps) == true else {
            throw APNsRejection(.topicDisallowed, note: "the topic \(app.topic) is not one of team \(sender.team)")
        }
        guard app.isPushEnabled else {
            throw APNsRejection(
                .topicDisallowed, note: "\(app.topic) does not have the capability of push notifications")
        }
        try sender.check(pushType)
        let note = try checkPayload(body, fault: fault, type: pushType)
        guard case .device(let digits) = path else {
            throw APNsRejection(.missingDeviceToken, note: "the path ends before the device token")
        }
        let (token, collapseID) = try receiver(digits, type: pushType, collapseID: fields.collapseID)
        if let refusal = onDemand?.refusal(of: token) { throw refusal }
        var resolution = tokens.known(token)
        if case .needsLookUp = resolution, let known = found.token { resolution = known }
        switch resolution {
        case .needsLookUp: return .lookUp(.token(token, for: app))
        case .bad: throw APNsRejection(.badDeviceToken, note: "the device token was not made here")
        case .ended(let instant):
            throw APNsRejection(
                .unregistered, note: "the device token is no longer active", timestamp: instant.rawValue)
        case .active(let subject):
            try check(subject, app)
            return .accept(
                AcceptedNotification(
                    app: app, subject: subject,
                    notification: Notification(
                        apnsID: fields.apnsID, topic: app.topic, pushType: pushType,
                        priority: fields.priority, expiry: fields.expiry.converted(senderTime),
                        collapseID: collapseID,
                        content: .apns(body)), ticket: ticket, note: note))
        }
    }

    /// The device token in a path, and the collapse id of the notification.
    ///
    /// A push to a Live Activity has a token of its own, which contains the app's device token. Its collapse id names the
    /// activity, so that the newest update replaces queued ones.
    private func receiver(
        _ digits: ArraySlice<UInt8>, type: PushType?, collapseID: String?
    ) throws(APNsRejection) -> (DeviceToken, collapseID: String?) {
        if let token = DeviceToken(hexadecimal: digits) {
            guard type == .liveactivity, onDemand?.kinds.contains(.tokens) != true else { return (token, collapseID) }
            throw APNsRejection(
                .deviceTokenNotForTopic,
                note: "the device token is the app's; a Live Activity has a push token of its own, of 96 digits")
        }
        if let token = DeviceToken(hexadecimal: digits.prefix(64)),
            let target = LiveActivityTarget(tokenDigits: digits.dropFirst(64))
        {
            guard type != .liveactivity else { return (token, target.collapseID) }
            if onDemand?.kinds.contains(.tokens) != true {
                throw APNsRejection(
                    .deviceTokenNotForTopic,
                    note: "the token is a Live Activity's, and takes apns-push-type liveactivity alone")
            }
        }
        guard let token = onDemand?.token(ofDigits: digits) else {
            throw APNsRejection(.badDeviceToken, note: "the device token is not 64 hexadecimal digits")
        }
        return (token, collapseID)
    }

    /// The app that a notification is for, with its push type.
    private enum Addressee {
        case app(RegisteredApp, PushType?)
        case lookUp(Topic)
    }

    private func addressee(
        _ topic: ArraySlice<UInt8>, _ type: PushType?, found: Found, memory: inout Memory
    ) throws(APNsRejection) -> Addressee {
        func named(_ topic: ArraySlice<UInt8>) -> Topic { Topic(rawValue: String(decoding: topic, as: UTF8.self)) }
        let addressed = try AddressedTopic(topic: topic, pushType: type)
        var result = apps.known(addressed.topic, &memory.app)
        if case .needsLookUp = result { result = found.topics[named(addressed.topic)] ?? result }
        switch result {
        case .app(let app): return .app(app, type)
        case .needsLookUp: return .lookUp(named(addressed.topic))
        case .unknownTopic: break
        }
        if let (topic, implied) = try addressed.withoutSuffix() {
            var result = apps.known(named(topic))
            if case .needsLookUp = result { result = found.topics[named(topic)] ?? result }
            switch result {
            case .app(let app): return .app(app, implied)
            case .needsLookUp: return .lookUp(named(topic))
            case .unknownTopic: break
            }
        }
        if onDemand?.kinds.contains(.apps) == true { return .lookUp(named(addressed.topic)) }
        throw APNsRejection(.topicDisallowed, note: "no app has the topic \(named(addressed.topic))")
    }

    /// - Returns: The timeline's note on the payload; `nil` for most.
    private func checkPayload(
        _ body: [UInt8], fault: HTTP2Request.Fault?, type: PushType?
    ) throws(APNsRejection) -> String? {
        let limit = APNsPayloadLimit.bytes(for: type)
        func tooLarge(_ count: String) -> APNsRejection {
            APNsRejection(.payloadTooLarge, note: "the payload has \(count) bytes, at most \(limit) are allowed")
        }
        switch fault {
        case .bodyLate: throw APNsRejection(.idleTimeout, note: "the payload did not end in time")
        case .bodyTooLarge: throw tooLarge("far more")
        case .wrongLength:
            throw APNsRejection(.badRequestPayload, note: "the payload is not as long as content-length says")
        case .headersTooLarge, nil: break
        }
        guard body.count <= limit else { throw tooLarge(String(body.count)) }
        let scan = JSONScanner.scan(ofObject: body)
        if let fault = scan.fault {
            throw APNsRejection(.payloadEmpty, note: "the payload is not a JSON object: \(fault)")
        }
        return PayloadDiagnosis.note(on: scan, pushType: type)
    }

    private func check(_ subject: TokenSubject, _ app: RegisteredApp) throws(APNsRejection) {
        guard subject.environment == environment else {
            throw APNsRejection(
                .badDeviceToken,
                note: "the device token is of the \(subject.environment.rawValue) environment, this is \(environment)")
        }
        guard subject.app == app.id else {
            throw APNsRejection(.deviceTokenNotForTopic, note: "the device token is not one of \(app.topic)")
        }
    }
}

extension Expiry {
    /// The same instant by another clock.
    fileprivate func converted(_ time: (Timestamp) -> Timestamp) -> Expiry {
        if case .until(let instant) = self { .until(time(instant)) } else { self }
    }
}
