import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension OwnRoutes {
    /// Adds the routes of the hub's webhook.
    func addWebhook(to router: Router<ControlContext>) {
        let path: RouterPath = "v1/hubs/:hub/webhook"
        router.get(
            path,
            use: handler(.manage) { call in
                guard let webhook = try await hubs.store.webhooks().first(where: { $0.hub == call.hub.number }) else {
                    throw HubError.missing("the webhook")
                }
                return .json(tree: Self.tree(webhook))
            })
        router.put(
            path,
            use: handler(.manage) { call in
                let document = try await call.request.tree()
                try OwnDocument.check(document, members: ["url"])
                guard let url = document["url"]?.text else {
                    throw InstallationError("/url", "the address is missing: https://host/path")
                }
                do { _ = try WebhookAddress(url) } catch { throw InstallationError("/url", "\(error)") }
                let webhook = HubWebhook(
                    hub: call.hub.number, url: url, secret: WebhookSignature.makeSecret(), setAt: hubs.now)
                try await hubs.store.setWebhook(webhook, of: call.hub.number)
                var tree = Self.tree(webhook)
                tree.set("secret", .string(webhook.secret))
                return .json(tree: tree)
            })
        router.delete(
            path,
            use: handler(.manage) { call in
                try await hubs.store.setWebhook(nil, of: call.hub.number)
                return Response(status: .noContent)
            })
    }

    private static func tree(_ webhook: HubWebhook) -> JSONValue {
        .object([.init("url", .string(webhook.url)), .init("since", .string(WireTime.write(webhook.setAt)))])
    }
}
