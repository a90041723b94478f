import HubProtocol
import PushCore

/// The description of everything under `/v1` (OpenAPI 3.1), `GET /v1/openapi.json`; tests compare it with the routes.
enum OpenAPIDocument {
    /// An operation with its request and its response.
    struct Operation {
        var method: String
        var path: String
        var name: String
        var summary: String
        /// The right that the key must have; outside hubs the required credential.
        var right: String
        var query: [String] = []
        var headers: [String] = []
        var body: String?
        var status = "200"
        /// The schema of the response; `nil` for none.
        var answer: String?
        var type = "application/json"
        var bodyType = "application/json"

        /// Whether it belongs to a hub: its path is relative to the hub's own.
        var isOfHub: Bool { !path.hasPrefix("/v1/") }
        /// The path as clients request it.
        var wholePath: String { isOfHub ? "/v1/hubs/{hub}\(path)" : path }

        init(
            _ method: String, _ path: String, _ name: String, _ summary: String, _ right: String, query: [String] = [],
            headers: [String] = [], body: String? = nil, status: String = "200", answer: String? = nil,
            type: String = "application/json", bodyType: String = "application/json"
        ) {
            self.method = method
            self.path = path
            self.name = name
            self.summary = summary
            self.right = right
            self.query = query
            self.headers = headers
            self.body = body
            self.status = status
            self.answer = answer
            self.type = type
            self.bodyType = bodyType
        }
    }

    /// Every operation under `/v1/hubs/{hub}`.
    static let operations: [Operation] = own + sends("campaigns", "Campaign") + sends("sends", "Send")

    private static let own: [Operation] = [
        Operation("get", "", "getHub", "The hub, and how many installations can be reached.", "Manage", answer: "Hub"),
        Operation(
            "get", "/installations", "listInstallations", "Installations, a page at a time.", "Manage",
            query: ["cursor", "limit", "expression", "user", "state"], answer: "InstallationPage"),
        Operation(
            "put", "/installations/{id}", "putInstallation", "Put an installation in place of an earlier one.",
            "Listen",
            headers: ["If-Match", "If-None-Match"], body: "Installation", answer: "Installation"),
        Operation(
            "patch", "/installations/{id}", "patchInstallation",
            "Change an installation (RFC 7396, or a list of changes).",
            "Listen", headers: ["If-Match"], body: "InstallationPatch", answer: "Installation"),
        Operation(
            "get", "/installations/{id}", "getInstallation", "One installation, with what is known of its channel.",
            "Listen", answer: "Installation"),
        Operation(
            "delete", "/installations/{id}", "deleteInstallation", "Delete an installation.", "Listen",
            headers: ["If-Match"], status: "204"),
        Operation(
            "delete", "/users/{id}", "eraseUser", "Delete everything of a person; the answer is the receipt.", "Manage",
            answer: "Erasure"),
        Operation(
            "get", "/users/{id}/export", "exportUser", "Everything that the hub has of a person.", "Manage",
            answer: "PersonExport"),
        Operation(
            "post", "/audience", "estimateAudience", "How many an expression means, and ten of them.", "Manage",
            body: "Expression", answer: "Audience"),
        Operation(
            "post", "/preview", "previewTemplates", "What properties become in an installation's templates.", "Send",
            body: "Preview", answer: "Renderings"),
        Operation(
            "post", "/campaigns", "beginCampaign", "Send a content to an audience, now or later.", "Send",
            headers: ["Idempotency-Key"], body: "Campaign", status: "201", answer: "Send"),
        Operation(
            "post", "/campaigns/preview", "previewCampaign",
            "What a campaign is for one installation, and when it comes.",
            "Send", body: "Campaign", answer: "CampaignPreview"),
        Operation(
            "post", "/campaigns/test", "tryCampaign", "Send each variant to test devices.", "Send", body: "Campaign",
            answer: "Trials"),
        Operation(
            "get", "/webhook", "getWebhook", "Where events are sent, without the secret.", "Manage", answer: "Webhook"),
        Operation(
            "put", "/webhook", "setWebhook", "Have events sent to an address; the answer has the secret, once.",
            "Manage",
            body: "WebhookAddress", answer: "Webhook"),
        Operation("delete", "/webhook", "removeWebhook", "Send events nowhere.", "Manage", status: "204"),
    ]

    private static func sends(_ path: String, _ noun: String) -> [Operation] {
        let one = "/\(path)/{id}"
        var list: [Operation] = [
            Operation(
                "get", "/\(path)", "list\(noun)s", "The newest first, a page at a time.", "Send or Report",
                query: ["cursor", "limit", "states"], answer: "\(noun)Page"),
            Operation("get", one, "get\(noun)", "How far it is.", "Send or Report", answer: "Send"),
            Operation(
                "get", "\(one)/report", "report\(noun)", "The funnel, and how each recipient ended.", "Send or Report",
                answer: "Report"),
            Operation(
                "get", "\(one)/recipients", "list\(noun)Recipients", "Each recipient, a page at a time.",
                "Send or Report", query: ["cursor", "limit"], answer: "RecipientPage"),
            Operation(
                "get", "\(one)/export", "export\(noun)", "All recipients, as JSON Lines or CSV.", "Send or Report",
                query: ["format"], answer: "Text", type: "application/jsonl"),
            Operation(
                "get", "\(one)/live", "follow\(noun)", "The report as server-sent events, as it grows.",
                "Send or Report", answer: "Text", type: "text/event-stream"),
            Operation(
                "get", "\(one)/faults", "list\(noun)Faults", "What push services did not take, a page at a time.",
                "Send or Report", query: ["cursor", "limit"], answer: "FaultPage"),
            Operation(
                "post", "\(one)/withdraw", "withdraw\(noun)", "Take back what was sent.", "Send",
                answer: "Withdrawal"),
        ]
        for (verb, summary) in [("pause", "Hold it."), ("resume", "Let it go on."), ("cancel", "End it.")] {
            list.append(Operation("post", "\(one)/\(verb)", "\(verb)\(noun)", summary, "Send", answer: "Send"))
        }
        return list
    }

    /// The whole document.
    static let tree: JSONValue = {
        var paths: [JSONValue.Member] = []
        for operation in operations + OpenAPIServer.operations {
            let path = operation.wholePath
            let value = described(operation)
            if let place = paths.firstIndex(where: { $0.name == path }) {
                paths[place].value.set(operation.method, value)
            } else {
                paths.append(.init(path, .object([.init(operation.method, value)])))
            }
        }
        let problem = JSONValue.object([
            .init("description", .string("What was wrong, and what would be right.")),
            .init("content", content("application/problem+json", "Problem")),
        ])
        let google = JSONValue.object([
            .init("description", .string("What was wrong, as Google's interfaces say it.")),
            .init("content", content("application/json", "Object")),
        ])
        let components = JSONValue.object([
            .init("securitySchemes", OpenAPISchemas.security),
            .init(
                "schemas",
                .object(
                    [
                        OpenAPISchemas.tree, OpenAPIServer.schemas, OpenAPIRegister.schemas, OpenAPICondition.schemas,
                    ].flatMap { $0.members ?? [] })),
            .init("responses", .object([.init("Problem", problem), .init("GoogleError", google)])),
        ])
        return JSONValue.object([
            .init("openapi", .string("3.1.0")), .init("info", OpenAPISchemas.about),
            .init("security", OpenAPISchemas.ways), .init("paths", .object(paths)),
            .init("components", components),
        ])
    }()

    private static func reference(_ schema: String) -> JSONValue {
        .object([.init("$ref", .string("#/components/schemas/\(schema)"))])
    }

    private static func content(_ type: String, _ schema: String) -> JSONValue {
        .object([.init(type, .object([.init("schema", reference(schema))]))])
    }

    private static func parameter(_ name: String, in place: String) -> JSONValue {
        let schema =
            switch name {
            case "limit": OpenAPISchemas.limit
            case "format": OpenAPISchemas.format
            default: OpenAPISchemas.text
            }
        return .object([
            .init("name", .string(name == "states" ? "state" : name)), .init("in", .string(place)),
            .init("required", .boolean(place == "path")), .init("schema", schema),
        ])
    }

    private static func described(_ operation: Operation) -> JSONValue {
        var parameters = operation.wholePath.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
            parameter(String(part.dropFirst().prefix { $0 != "}" }), in: "path")
        }
        parameters += operation.query.map { parameter($0, in: "query") }
        parameters += operation.headers.map { parameter($0, in: "header") }
        var members: [JSONValue.Member] = [
            .init("operationId", .string(operation.name)), .init("summary", .string(operation.summary)),
            .init(
                "description", .string("Needs \(operation.isOfHub ? "the right " : "")\(operation.right).")),
            .init("parameters", .array(parameters)),
        ]
        if let body = operation.body {
            members.append(
                .init(
                    "requestBody",
                    .object([
                        .init("required", .boolean(true)), .init("content", content(operation.bodyType, body)),
                    ])))
        }
        var answer: [JSONValue.Member] = [.init("description", .string("Done."))]
        if let schema = operation.answer { answer.append(.init("content", content(operation.type, schema))) }
        var responses: [JSONValue.Member] = [.init(operation.status, .object(answer))]
        if ["putInstallation", "putMedia"].contains(operation.name) { responses.append(.init("201", .object(answer))) }
        let refusal = operation.path.hasPrefix("/v1/projects/") ? "GoogleError" : "Problem"
        responses.append(.init("default", .object([.init("$ref", .string("#/components/responses/\(refusal)"))])))
        members.append(.init("responses", .object(responses)))
        return .object(members)
    }
}
