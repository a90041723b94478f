import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOFoundationCompat
import Networking
import PushCore
import PushServer

/// The routes with which providers manage topics: the Instance ID service's, and the newer ones under `v1/projects`.
///
/// A provider's libraries use them when their Instance ID address is this server's.
package struct TopicInterface: ControlInterface {
    private let subscriptions: TopicSubscriptions
    private let sender: Broadcasts
    private let authentication: any ProjectAuthentication
    private let quotas: SubscriptionQuotas
    private let web: any RegisterStore & FCMRegister
    static let failure = RepeatedMessage("a request about topics could not be answered")

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - authentication: The check of callers of the secured listener; on the development listener every caller may
    ///     act for every team.
    ///   - quotas: The quotas for changes of subscriptions, on all listeners together.
    ///   - web: The register of browsers' and Android libraries' registrations.
    package init(
        subscriptions: TopicSubscriptions, sender: Broadcasts, authentication: any ProjectAuthentication,
        quotas: SubscriptionQuotas, web: any RegisterStore & FCMRegister
    ) {
        self.quotas = quotas
        self.web = web
        self.sender = sender
        self.subscriptions = subscriptions
        self.authentication = authentication
    }

    /// Adds the routes of topics.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access: any ProjectAuthentication = isSecured ? authentication : DevelopmentAccess(authentication)
        let instances = InstanceRoutes(subscriptions: subscriptions, access: access, quotas: quotas, web: web)
        let projects = ProjectTopicRoutes(subscriptions: subscriptions, access: access, quotas: quotas, web: web)
        let broadcasts = BroadcastRoute(sender: sender, access: access)
        router.post("v1/broadcasts") { request, _ in try await broadcasts.send(request) }
        router.post("iid/v1:batchAdd") { request, context in
            await instances.answer(context) { try await instances.batch(request, isLeaving: false) }
        }
        router.post("iid/v1:batchRemove") { request, context in
            await instances.answer(context) { try await instances.batch(request, isLeaving: true) }
        }
        router.post("iid/v1:batchImport") { request, context in
            await instances.answer(context) { try await instances.batchImport(request) }
        }
        for (method, isLeaving) in [(HTTPRequest.Method.post, false), (.delete, true)] {
            router.on("iid/v1/:token/rel/topics/:topic", method: method) { request, context in
                await instances.answer(context) {
                    try await instances.change(
                        request, token: context.parameters.require("token"),
                        topic: context.parameters.require("topic"), isLeaving: isLeaving)
                }
            }
        }
        router.get("iid/info/:token") { request, context in
            await instances.answer(context) {
                try await instances.info(request, token: context.parameters.require("token"))
            }
        }
        add(projects, to: router)
    }

    private func add(_ projects: ProjectTopicRoutes, to router: Router<ControlContext>) {
        typealias Act = @Sendable (Request, ProjectTopicRoutes.Names) async throws -> Response
        @Sendable func answer(
            _ request: Request, _ context: ControlContext, by act: @escaping Act
        ) async -> Response {
            await projects.answer(context) { try await act(request, ProjectTopicRoutes.Names(context)) }
        }
        router.post("v1/projects/:project/registrations/:token/topicSubscriptions") { request, context in
            await answer(request, context, by: projects.create)
        }
        router.get("v1/projects/:project/registrations/:token/topicSubscriptions") { request, context in
            await answer(request, context, by: projects.list)
        }
        router.get("v1/projects/:project/registrations/:token/topicSubscriptions/:topic") { request, context in
            await answer(request, context, by: projects.get)
        }
        router.patch("v1/projects/:project/registrations/:token/topicSubscriptions/:topic") { request, context in
            await answer(request, context, by: projects.patch)
        }
        router.delete("v1/projects/:project/registrations/:token/topicSubscriptions/:topic") { request, context in
            await answer(request, context, by: projects.delete)
        }
    }
}

extension Request {
    /// The body as JSON, at most 256 KiB, which is ample for a thousand registration tokens.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value? {
        let body = try await wholeBody(upTo: 262_144)
        return try? JSONDecoder().decode(type, from: Data(buffer: body))
    }

    /// The value of a query's field.
    func query(_ name: String) -> String? { uri.queryParameters[Substring(name)].map(String.init) }
}
