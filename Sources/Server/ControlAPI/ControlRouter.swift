import Console
import Hummingbird
import Networking
import PushServer

/// The routes of each interface.
enum ControlRouter {
    static func router(
        _ interface: ControlListener.Interface, limiter: ConnectionLimiter, isLoopback: Bool,
        port: @escaping @Sendable () -> Int?
    ) -> Router<ControlContext> {
        let router = Router(context: ControlContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: FairService(callers: ConnectionCredentials(limiter: limiter)))
        let own: @Sendable () -> [Int] = { port().map { [$0] } ?? [] }
        if case .development(let services) = interface {
            router.add(middleware: ErrorAnswers())
            let guarded = LoopbackGuard<ControlContext>(isOnLoopback: isLoopback) { own() + services.loadBalancerPorts }
            router.add(middleware: guarded)
        }
        if let services = interface.services, let controls = services.controls {
            router.add(
                middleware: RecordRequests(
                    controls, authentication: services.senders, project: services.project, clock: services.clock))
        }
        router.add(middleware: ErrorAnswers())
        router.add(middleware: QueryLimit())
        if let services = interface.services, let console = services.console {
            // The pages' own calls come from no connection, and are not requests of providers.
            let api = Router(context: ControlContext.self)
            api.add(middleware: ErrorAnswers())
            api.add(middleware: QueryLimit())
            audit(services, isSecured: false, port: port, on: api)
            add(services, authentication: nil, port: port, to: api)
            if let access = interface.consoleAccess {
                console.add(to: router, api: ConsoleAPI(api.buildResponder()), access: access)
            }
        }
        switch interface {
        case .secured(let services, _):
            audit(services, isSecured: true, port: port, on: router)
            add(services, authentication: services.authentication, port: port, to: router)
        case .development(let services):
            audit(services, isSecured: false, port: port, on: router)
            add(services, authentication: nil, port: port, to: router)
        case .metrics(let registry, let status):
            // Other addresses have names that are not known here.
            if isLoopback { router.add(middleware: LoopbackGuard(ports: own)) }
            router.get { _, _ in RootAnswer.metrics }
            router.get("metrics") { request, _ in
                let format = MetricsFormat(accept: request.headers[.accept])
                return Response.text(await registry.scrape(format), type: format.contentType)
            }
            add(status, to: router)
        case .pages(let pages):
            router.add(middleware: LoopbackGuard(ports: own))
            pages.add(to: router, isSecured: false)
        }
        return router
    }

    /// Writes an audit entry of each change by the routes that are added afterwards.
    private static func audit(
        _ services: ControlServices, isSecured: Bool, port: @escaping @Sendable () -> Int?,
        on router: Router<ControlContext>
    ) {
        guard let log = services.audit else { return }
        let reader = Router(context: ControlContext.self)
        reader.add(middleware: ErrorAnswers())
        add(services, authentication: nil, port: port, to: reader)
        router.add(middleware: AuditRequests(log: log, isSecured: isSecured, reader: reader.buildResponder()))
    }

    private static func add(_ status: ServerStatus, to router: Router<ControlContext>) {
        router.get("health") { _, _ in HealthAnswer.health(status) }
        router.get("ready") { _, _ in HealthAnswer.readiness(status) }
    }

    private static func add(
        _ services: ControlServices, authentication: (any ProviderAuthentication)?,
        port: @escaping @Sendable () -> Int?, to router: Router<ControlContext>
    ) {
        router.get { request, _ in RootAnswer.control(request, hasConsole: services.console != nil) }
        add(services.status, to: router)
        let checkin = CheckinRoute(
            enrolment: services.enrolment,
            admission: EnrolmentAdmission(
                services.enrolmentAccess, keys: services.enrolmentKeys, clock: services.clock),
            clock: services.clock)
        let register = RegisterRoute(
            enrolment: services.enrolment, web: services.webEnrolment, topics: services.topics,
            broadcastChannels: services.broadcastChannels,
            channels: services.channels, scheme: authentication == nil ? "http" : "https")
        let access = ProviderAccess(authentication: authentication)
        let notifications = NotificationsRoute(
            timelines: services.timelines, withdrawal: services.withdrawal,
            broadcasts: services.broadcasts, access: access,
            inventory: services.inventory)
        let keys = EncryptionKeyRoute(keys: services.encryptionKeys, access: access)
        router.post("checkin") { request, _ in try await checkin.respond(request) }
        router.post("c2dm/register3") { request, context in try await register.respond(request, logger: context.logger)
        }
        router.get("v1/registrations/:token/encryption-key") { request, context in
            try await keys.respond(request, token: context.parameters.require("token"))
        }
        router.get("v1/notifications/:id") { request, context in
            try await notifications.respond(request, reference: context.parameters.require("id"))
        }
        router.delete("v1/notifications/:id") { request, context in
            try await notifications.withdraw(request, reference: context.parameters.require("id"))
        }
        if let media = services.media { add(media, access, to: router) }
        if let controls = services.controls {
            let tests = TestInterface(controls: controls, access: access, port: port)
            tests.addReading(to: router)
            if authentication == nil { tests.addChanges(to: router) }
        }
        for interface in services.interfaces { interface.add(to: router, isSecured: authentication != nil) }
        assertRowsOfCosts(router)
    }

    /// Ends a server that was built for debugging when a route does not say what it costs.
    private static func assertRowsOfCosts(_ router: Router<ControlContext>) {
        assert(
            RouteCosts.missing(in: router.routes.map { ($0.method, $0.path) }).isEmpty,
            "no row in RouteCosts: \(RouteCosts.missing(in: router.routes.map { ($0.method, $0.path) }))")
    }

    private static func add(
        _ media: MediaServices, _ access: ProviderAccess, to router: Router<ControlContext>
    ) {
        let route = MediaRoute(media: media, access: access)
        let serving = MediaServing(store: media.store)
        router.post("v1/media") { request, _ in try await route.upload(request) }
        router.get("v1/media") { request, _ in try await route.list(request) }
        router.delete("v1/media/:name") { request, context in
            try await route.delete(request, name: context.parameters.require("name"))
        }
        router.get("media/:name") { request, context in
            try await serving.respond(request, addressName: context.parameters.require("name"))
        }
    }
}
