import HTTPTypes
import Hummingbird
import PushCore

extension RegisterInterface {
    /// An app's webhook in the form of the API.
    private struct WebhookAnswer: Encodable {
        var url: String
        var since: String
        /// The secret that signs, in the answer to the setting alone.
        var secret: String?

        init(_ webhook: Webhook) {
            url = webhook.url
            since = webhook.setAt.description
        }
    }

    private func webhook(of app: RegisteredApp) async throws -> Webhook? {
        try await webhooks.webhooks().first { $0.app == app.id }
    }

    private func presentWebhook(of app: RegisteredApp) async throws -> Webhook {
        guard let webhook = try await webhook(of: app) else {
            throw ControlError(
                status: .notFound, code: "notFound", message: "the app \(app.topic) has no webhook; PUT gives it one")
        }
        return webhook
    }

    func getWebhook(_ request: Request, _ context: ControlContext) async throws -> Response {
        .json(WebhookAnswer(try await presentWebhook(of: try await app(context))))
    }

    func listWebhookAnswers(_ request: Request, _ context: ControlContext) async throws -> Response {
        .json(answers.list(of: try await presentWebhook(of: try await app(context)).url))
    }

    func setWebhook(_ request: Request, _ context: ControlContext) async throws -> Response {
        let app = try await app(context)
        let document = try await RequestDocument(request, members: ["url"])
        let url = try document.text(required: "url", "https://host/path")
        do { _ = try WebhookAddress(url) } catch { throw ControlError.invalid("url: \(error)") }
        let webhook = Webhook(app: app.id, url: url, secret: WebhookSignature.makeSecret(), setAt: clock())
        let answer = try await changes.make(
            AuditChange(.setWebhook, app.topic.rawValue, team: app.team.rawValue),
            before: try await self.webhook(of: app).map(WebhookAnswer.init)
        ) {
            try await webhooks.setWebhook(webhook, app: app.id)
            var answer = WebhookAnswer(webhook)
            answer.secret = webhook.secret
            return answer
        }
        return .json(answer)
    }

    func removeWebhook(_ request: Request, _ context: ControlContext) async throws -> Response {
        let app = try await app(context)
        _ = try await changes.make(
            AuditChange(.removeWebhook, app.topic.rawValue, team: app.team.rawValue),
            before: WebhookAnswer(try await presentWebhook(of: app))
        ) {
            try await webhooks.setWebhook(nil, app: app.id)
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}
