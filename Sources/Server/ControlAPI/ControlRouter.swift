import ConnectionAdmission
import Hummingbird
import Observability
import ServerCore

/// The routes of each interface.
enum ControlRouter {
    static func router(
        _ interface: ControlListener.Interface, limiter: ConnectionLimiter, port: @escaping @Sendable () -> Int?
    ) -> Router<ControlContext> {
        let router = Router(context: ControlContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProofOfConnections(limiter: limiter))
        router.add(middleware: ErrorAnswers())
        switch interface {
        case .secured(let services, _):
            add(services, authentication: services.authentication, to: router)
        case .development(let services):
            router.add(middleware: LoopbackGuard(port: port))
            add(services, authentication: nil, to: router)
        case .metrics(let registry, let health):
            router.add(middleware: LoopbackGuard(port: port))
            router.get("metrics") { _, _ in
                Response.text(registry.text(), type: PrometheusRegistry.contentType)
            }
            add(health, to: router)
        }
        return router
    }

    private static func add(_ health: StoreHealth, to router: Router<ControlContext>) {
        router.get("health") { _, _ in HealthAnswer.response(to: health.failure) }
    }

    private static func add(
        _ services: ControlServices, authentication: (any ProviderAuthentication)?,
        to router: Router<ControlContext>
    ) {
        add(services.health, to: router)
        let checkin = CheckinRoute(
            enrolment: services.enrolment, access: services.enrolmentAccess, clock: services.clock)
        let register = RegisterRoute(enrolment: services.enrolment)
        let notifications = NotificationsRoute(timelines: services.timelines, authentication: authentication)
        router.post("checkin") { request, _ in try await checkin.respond(request) }
        router.post("c2dm/register3") { request, context in try await register.respond(request, logger: context.logger)
        }
        router.get("v1/notifications/:id") { request, context in
            try await notifications.respond(request, reference: context.parameters.require("id"))
        }
    }
}
