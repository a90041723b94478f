import FCMProtocol
import Hummingbird
import PushServer

/// FCM's routes for providers, in addition to those of the control API.
package struct FCMInterface: ControlInterface {
    private let services: FCMServices
    private let quotas: SendQuotas
    private let throttles: DeviceThrottles
    private let metrics = FCMMetrics()

    /// Creates the interface; its listeners share one quota.
    package init(_ services: FCMServices) {
        self.services = services
        quotas = SendQuotas(perMinute: services.messagesPerMinute)
        throttles = DeviceThrottles(perMinute: services.messagesPerDevice)
    }

    /// Adds the routes. Each requires its credential, on the development listener too.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access = services.access
        let gate = MessageTargetValidator(
            apps: services.apps, tokens: services.tokens, groups: services.groups, register: services.web?.register,
            onDemand: services.onDemand)
        let tokens = TokenRoute(access: access, senderClock: services.senderClock, names: services.names)
        let messages = MessageRoute(
            access: access, gate: gate, quotas: quotas, throttles: throttles, acceptor: services.acceptor,
            audiences: services.audiences, metrics: metrics)
        let groups = DeviceGroupRoute(access: access, gate: gate, groups: services.groups, acceptor: services.acceptor)
        // Service accounts of earlier years name the other two.
        for path: RouterPath in ["token", "o/oauth2/token", "oauth2/v4/token"] {
            router.post(path) { request, context in await tokens.respond(request, logger: context.logger) }
        }
        router.post("v1/projects/:project/messages:send") { request, context in
            await messages.respond(
                request, project: try context.parameters.require("project"), logger: context.logger)
        }
        router.post("fcm/notification") { request, context in await groups.change(request, logger: context.logger) }
        router.get("fcm/notification") { request, context in await groups.find(request, logger: context.logger) }
        if let keys = services.serverKeys {
            let legacy = LegacyMessageRoute(keys: keys, accounts: services.accounts, messages: messages)
            router.post("fcm/send") { request, context in await legacy.respond(request, logger: context.logger) }
        }
        let webPush = services.web.map(route)
        if let webPush { Self.add(webPush, to: router) }
        if let keys = services.gatewayKeys {
            Self.add(
                ChatGateways(
                    keys: keys, accounts: services.accounts, messages: messages, webPush: webPush,
                    hubs: services.chatHubs),
                version: services.version, to: router)
        }
    }

    private func route(_ web: WebPushServices) -> WebPushRoute {
        WebPushRoute(
            services: web, apps: services.apps, tokens: services.tokens, quotas: quotas, acceptor: services.acceptor,
            senderClock: services.senderClock, names: services.names, metrics: metrics,
            onDemand: services.onDemand)
    }

    /// Adds the routes that chat servers call.
    private static func add(_ gateways: ChatGateways, version: String, to router: Router<ControlContext>) {
        let matrix = MatrixRoute(gateways: gateways)
        router.get("_matrix/push/v1/notify") { _, _ in matrix.discover() }
        router.post("_matrix/push/v1/notify") { request, context in
            await matrix.notify(request, logger: context.logger)
        }
        let mattermost = MattermostRoute(gateways: gateways, version: version)
        router.post("gateway/:key/api/v1/send_push") { request, context in
            await mattermost.send(request, key: try context.parameters.require("key"), logger: context.logger)
        }
        router.post("gateway/:key/api/v1/ack") { request, context in
            await mattermost.acknowledge(request, key: try context.parameters.require("key"), logger: context.logger)
        }
        router.get("gateway/:key/version") { request, context in
            await mattermost.version(request, key: try context.parameters.require("key"), logger: context.logger)
        }
        let rocketChat = RocketChatRoute(gateways: gateways)
        for (path, platform) in [
            ("gateway/:key/push/apn/send", .apple), ("gateway/:key/push/gcm/send", .android),
        ] as [(RouterPath, ChatPush.Platform)] {
            router.post(path) { request, context in
                await rocketChat.send(
                    request, key: try context.parameters.require("key"), to: platform, logger: context.logger)
            }
        }
    }

    /// Adds the URLs of browsers' subscriptions, in Chromium's form and in a shorter one.
    private static func add(_ route: WebPushRoute, to router: Router<ControlContext>) {
        // The last is that of Mozilla's push service.
        for path: RouterPath in ["wp/:token", "fcm/send/:token", "wpush/v2/:token"] {
            router.post(path) { request, context in
                await route.send(
                    request, token: try context.parameters.require("token"), logger: context.logger)
            }
        }
        router.get("wp/:token/messages/:id") { request, context in
            await route.receipt(
                request, token: try context.parameters.require("token"), id: try context.parameters.require("id"),
                logger: context.logger)
        }
        router.delete("wp/:token/messages/:id") { request, context in
            await route.withdraw(
                request, token: try context.parameters.require("token"), id: try context.parameters.require("id"),
                logger: context.logger)
        }
    }
}
