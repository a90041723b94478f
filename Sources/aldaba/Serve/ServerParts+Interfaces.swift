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
        _ values: ConfigurationValues, media: MediaServices, upstream: UpstreamParts, hub: any ControlInterface,
        status: ServerStatus, names: @escaping @Sendable () -> ServerNames
    ) throws -> ControlServices {
        let isOpen = values.flag(.enrolmentOpen) || values.flag(.development)
        let enrolment = Enrolment(
            store: store.register, apps: apps, tokens: tokens, mailboxes: mailboxes, cell: Self.cell,
            secrets: deviceSecrets, logger: logger, clock: clock)
        let webEnrolment = WebEnrolment(
            enrolment: enrolment, store: store.register, apps: apps, tokens: tokens, mailboxes: mailboxes,
            registrations: web,
            environment: environment, clock: clock)
        var services = ControlServices(
            enrolment: enrolment,
            encryptionKeys: EncryptionKeys(store: store.register, apps: apps, tokens: tokens),
            timelines: Timelines(store: store, mailboxes: mailboxes), withdrawal: mailboxes,
            authentication: credentials,
            enrolmentAccess: isOpen ? .open : try values.enrolmentKey().map { .key($0) } ?? .closed,
            health: mailboxes.health, media: media, clock: clock)
        services.status = status
        services.controls = controls
        services.console = try Console()
        services.inventory = store
        services.audit = AuditLog(store: store.audit, clock: clock)
        services.senders = authentication
        services.project = serviceAccounts.projectName(of:)
        services.webEnrolment = webEnrolment
        services.enrolmentKeys = store.register
        services.topics = topics
        services.broadcasts = broadcasts
        let admission = EnrolmentAdmission(services.enrolmentAccess, keys: store.register, clock: clock)
        services.interfaces = interfacesOfFCM(values, web: webEnrolment, admission: admission, names: names)
        services.interfaces += [UpstreamInterface(feed: upstream.feed, authentication: authentication), reports, hub]
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

    /// Authenticates the clients of interfaces for providers of APNs and of FCM.
    var authentication: AccountAuthentication {
        AccountAuthentication(
            accounts: FCMAccess(accounts: serviceAccounts, sealer: accessTokens, clock: clock),
            providers: credentials)
    }

    private func interfacesOfFCM(
        _ values: ConfigurationValues, web: WebEnrolment, admission: EnrolmentAdmission,
        names: @escaping @Sendable () -> ServerNames
    ) -> [any ControlInterface] {
        var services = FCMServices(
            accounts: serviceAccounts, apps: apps, tokens: tokens, groups: store.register, sealer: accessTokens,
            acceptor: acceptor, names: names, audiences: TopicAudience(broadcasts, clock: clock),
            messagesPerMinute: values.number(.fcmQuota))
        services.serverKeys = values.flag(.legacyFCM) ? serverKeys : nil
        services.onDemand = onDemandTokens
        if let controls { services.senderClock = { controls.clock.machineTime } }
        services.messagesPerDevice = values.number(.fcmDeviceQuota)
        services.web = WebPushServices(register: store.register, withdrawal: mailboxes)
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
