import APNsFrontend
import AldabaConfiguration
import Console
import ControlAPI
import FCMFrontend
import PushCore
import PushServer

extension ServerParts {
    /// The services of the control API's listeners: its own routes, and the interfaces of other modules.
    func controlServices(
        _ values: ConfigurationValues, media: MediaServices, upstream: UpstreamParts, hub: HubParts,
        status: ServerStatus, names: @escaping @Sendable () -> ServerNames
    ) throws -> ControlServices {
        let webEnrolment = WebEnrolment(
            enrolment: enrolment, store: store.register, apps: apps, tokens: tokens, mailboxes: mailboxes,
            registrations: web,
            environment: environment, clock: clock)
        var services = ControlServices(
            enrolment: enrolment,
            encryptionKeys: EncryptionKeys(store: store.register, apps: apps, tokens: tokens),
            timelines: Timelines(store: store, mailboxes: mailboxes), withdrawal: mailboxes,
            authentication: credentials,
            enrolmentAccess: try Self.enrolmentAccess(values),
            health: mailboxes.health, media: media, clock: clock)
        services.status = status
        services.controls = controls
        services.console = try Console()
        services.inventory = store
        services.audit = AuditLog(store: store.audit, clock: clock)
        services.senders = authentication
        services.project = serviceAccounts.projectName(of:)
        services.webEnrolment = webEnrolment
        services.channels = ChannelRegistrations(
            enrolment: try browserEnrolment(values), address: values.controlAddress)
        services.enrolmentKeys = store.register
        services.topics = topics
        services.broadcastChannels = channels
        services.broadcasts = broadcasts
        let admission = EnrolmentAdmission(services.enrolmentAccess, keys: store.register, clock: clock)
        services.interfaces = interfacesOfFCM(
            values, web: webEnrolment, admission: admission, chatHubs: hub.chat, names: names)
        services.interfaces += [
            UpstreamInterface(feed: upstream.feed, authentication: authentication), reports, hub.interface,
        ]
        services.interfaces.append(
            PushInterface(
                environment: environment, credentials: credentials, certificates: certificates, apps: apps,
                tokens: tokens, store: store.register, acceptor: mailboxes, onDemand: onDemand, senderTime: senderTime))
        services.interfaces.append(
            InventoryInterface(
                store: store, apps: store.register, authentication: authentication, feed: mailboxes.feed,
                flush: mailboxes.flushNotes))
        services.interfaces.append(AuditInterface(store: store.audit))
        return services
    }

    /// Enrols devices.
    var enrolment: Enrolment {
        Enrolment(
            store: store.register, apps: apps, tokens: tokens, mailboxes: mailboxes, cell: Self.cell,
            secrets: deviceSecrets, logger: logger, clock: clock)
    }

    /// The rule for enrolling new devices.
    private static func enrolmentAccess(_ values: ConfigurationValues) throws -> EnrolmentAccess {
        let isOpen = values.flag(.enrolmentOpen) || values.flag(.development)
        return isOpen ? .open : try values.enrolmentKey().map { .key($0) } ?? .closed
    }

    /// Enrols browsers, and makes subscriptions of Web Push.
    private func browserEnrolment(_ values: ConfigurationValues) throws -> BrowserEnrolment {
        BrowserEnrolment(
            enrolment: enrolment,
            admission: EnrolmentAdmission(try Self.enrolmentAccess(values), keys: store.register, clock: clock),
            store: store.register, apps: apps, sealer: subscriptions, environment: environment, clock: clock)
    }

    /// The services for browsers' connections.
    ///
    /// The addresses of subscriptions begin with `media-url`. Without that setting they name the host that the browser has
    /// connected to: with TLS at the port of the control API, and on a development server without TLS at its port for http.
    /// Elsewhere a connection without TLS comes from a proxy, whose own address it is.
    func browserServices(_ values: ConfigurationValues, _ ports: BoundPorts) throws -> BrowserServices {
        let (isDevelopment, chosen) = (values.flag(.development), values.controlAddress)
        return BrowserServices(
            enrolment: try browserEnrolment(values), withdrawal: mailboxes
        ) { host, isSecured in
            if let chosen { return chosen }
            guard !host.isEmpty else { return nil }
            if !isSecured, !isDevelopment { return "https://\(host)" }
            guard let port = (isSecured ? ports.control : ports.http).current else { return nil }
            let name = host.hasSuffix("]") ? host[...] : host.lastIndex(of: ":").map { host[..<$0] } ?? host[...]
            return "\(isSecured ? "https" : "http")://\(name):\(port)"
        }
    }

    /// Authenticates the clients of interfaces for providers of APNs and of FCM.
    var authentication: AccountAuthentication {
        AccountAuthentication(
            accounts: FCMAccess(accounts: serviceAccounts, sealer: accessTokens, clock: clock),
            providers: credentials)
    }

    private func interfacesOfFCM(
        _ values: ConfigurationValues, web: WebEnrolment, admission: EnrolmentAdmission, chatHubs: any ChatPushHub,
        names: @escaping @Sendable () -> ServerNames
    ) -> [any ControlInterface] {
        var services = FCMServices(
            accounts: serviceAccounts, apps: apps, tokens: tokens, groups: store.register, sealer: accessTokens,
            acceptor: acceptor, names: names, audiences: TopicAudience(broadcasts, clock: clock),
            messagesPerMinute: values.number(.fcmQuota))
        services.serverKeys = values.flag(.legacyFCM) ? serverKeys : nil
        services.gatewayKeys = gatewayKeys
        services.chatHubs = chatHubs
        services.version = AldabaVersion.number
        services.onDemand = onDemandTokens
        if let controls { services.senderClock = { controls.clock.machineTime } }
        services.messagesPerDevice = values.number(.fcmDeviceQuota)
        services.web = WebPushServices(
            register: store.register, sealer: subscriptions, withdrawal: mailboxes,
            timelines: Timelines(store: store, mailboxes: mailboxes))
        let access = TopicAccess(
            accounts: services.access, providers: ProviderAccess(authentication: credentials))
        return [
            FCMInterface(services),
            FCMEnrolmentInterface(store: store.register, enrolment: web, admission: admission, clock: clock),
            TopicInterface(
                subscriptions: topics, sender: broadcasts, authentication: access,
                quotas: SubscriptionQuotas(perSecond: values.number(.topicQuota), clock: clock),
                web: store.register),
        ]
    }
}
