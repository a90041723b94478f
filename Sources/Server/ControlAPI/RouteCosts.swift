import HTTPTypes
import Hummingbird

/// One row for each route of the control port: who may call it, what one call costs at most, and whose budget it counts in.
///
/// A server that is built for debugging does not start with a route that has no row. All bodies are bounded: 8 KiB without a
/// credential, 64 KiB with one, files by their team's quota.
enum RouteCosts {
    /// The weakest credential that a route serves.
    enum Callers: Hashable, Sendable {
        /// Everybody; the connection stays unproven.
        case anyone
        /// Devices with their id and secret, or an enrolment key.
        case devices
        /// Holders of a key that is in every copy of an app.
        case clients
        /// Holders of a key that a team keeps to itself.
        case team
    }

    /// The row of a route.
    struct Row: Hashable, Sendable {
        /// The method and the path, `GET /v1/media/{name}`.
        var route: String
        var callers: Callers
        /// The most that one call costs beyond reading its body.
        var cost: String
        /// The bound that keeps one caller from taking what others need.
        var budget: String
    }

    /// The routes without a row.
    static func missing(in routes: [(method: HTTPRequest.Method, path: RouterPath)]) -> [String] {
        let known = Set(rows.map(\.route))
        return routes.map { "\($0.method.rawValue) \($0.path)" }.filter { !known.contains($0) && !$0.hasPrefix("HEAD") }
    }

    static let rows: [Row] =
        server + register + console + consoleOfAccount + consoleOfHubs + tests + firebase + hubOfAzure + hubOfOurs

    private static func row(_ route: String, _ callers: Callers, cost: String, budget: String) -> Row {
        Row(route: route, callers: callers, cost: cost, budget: budget)
    }

    private static let look = "one row of the store"
    private static let page = "1,000 rows of the store"
    private static let own = "the caller's queue of work"
    private static let shared = "the queue of work of everybody without a credential"

    /// The pages for people.
    private static let console =
        [
            row("GET /console/login", .anyone, cost: "one row of the store", budget: shared),
            row(
                "POST /console/login", .anyone, cost: "one hash of 16 MiB, one at a time",
                budget: "32 waiting, and the pace of log-ins"),
            row("POST /console/logout", .anyone, cost: look, budget: own),
            row(
                "GET /console/login/provider", .anyone, cost: "a request to the OpenID provider an hour", budget: shared
            ),
            row("GET /console/login/callback", .anyone, cost: "two requests to the OpenID provider", budget: shared),
            row("GET /console/setup", .anyone, cost: "one row of the store", budget: shared),
            row(
                "POST /console/setup", .anyone, cost: "one hash of 16 MiB, for the holder of a link",
                budget: "32 waiting"),
            row("GET /console/confirm", .anyone, cost: look, budget: own),
            row(
                "POST /console/confirm", .anyone, cost: "one hash of 16 MiB, one at a time",
                budget: "the pace of log-ins"),
            row("GET /console/sessions", .anyone, cost: "the sessions of a person", budget: own),
            row("POST /console/sessions/end", .anyone, cost: "the sessions of a person", budget: own),
            row("POST /console/sessions/{id}/end", .anyone, cost: "the sessions of a person", budget: own),
            row("POST /console/team", .anyone, cost: look, budget: own),
            row("GET /console/accounts", .anyone, cost: "all people", budget: own),
            row("POST /console/accounts", .anyone, cost: look, budget: own),
            row("POST /console/accounts/{id}/roles", .anyone, cost: "all people", budget: own),
            row("POST /console/accounts/{id}/link", .anyone, cost: look, budget: own),
            row("POST /console/accounts/{id}/remove", .anyone, cost: "all people", budget: own),
            row("GET /console", .anyone, cost: "1,000 rows of the store", budget: shared),
            row("GET /console/**", .anyone, cost: "nothing is read", budget: shared),
            row("GET /console/audit", .anyone, cost: "2,000 rows of the store", budget: shared),
            row("GET /console/audit/export", .anyone, cost: "500 rows at a time, streamed", budget: shared),
            row("GET /console/api", .anyone, cost: "nothing is read", budget: shared),
            row("GET /console/preferences", .anyone, cost: "nothing is read", budget: shared),
            row("POST /console/preferences", .anyone, cost: "nothing is read", budget: shared),
            row("GET /console/language", .anyone, cost: "nothing is read", budget: shared),
            row(
                "GET /console/inbox/events", .anyone, cost: "50 rows of the store four times a second",
                budget: "64 streams"),
            row("GET /console/compose", .anyone, cost: "three payloads for each of 40 languages", budget: shared),
            row("POST /console/compose/preview", .anyone, cost: "a file of 10 MiB, and an audience", budget: shared),
            row("POST /console/compose/send", .anyone, cost: "a file of 10 MiB, and an audience", budget: shared),
            row("POST /console/compose/import", .anyone, cost: "a file of 10 MiB", budget: shared),
            row("GET /console/notifications/{id}", .anyone, cost: "1,000 rows of the store", budget: shared),
            row(
                "POST /console/notifications/{id}/resend", .anyone, cost: "one notification of the mailbox",
                budget: shared),
            row("POST /console/notifications/{id}/withdraw", .anyone, cost: "1,000 rows of the store", budget: shared),
            row("GET /console/notifications/{id}/timeline", .anyone, cost: "1,000 rows of the store", budget: shared),
            row("GET /console/devices", .anyone, cost: page, budget: shared),
            row("GET /console/devices/{id}", .anyone, cost: "50 rows of the store", budget: shared),
            row("POST /console/devices/{id}/test", .anyone, cost: "one notification of the mailbox", budget: shared),
            row("POST /console/devices/{id}/block", .anyone, cost: look, budget: shared),
            row("POST /console/devices/{id}/unblock", .anyone, cost: look, budget: shared),
            row("POST /console/devices/{id}/revoke", .anyone, cost: "the device's registrations", budget: shared),
            row("GET /console/health", .anyone, cost: "1,440 samples in memory", budget: shared),
            row("GET /console/relay", .anyone, cost: "100 accounts of 64 devices", budget: shared),
        ]
        + ["style.css", "live.js", "follow.js", "compose.js", "icon.svg"].map {
            row("GET /console/\($0)", .anyone, cost: "nothing is read", budget: shared)
        }

    /// The routes of a development server.
    private static let tests = [
        row("GET /v1/received", .team, cost: "10,000 requests in memory", budget: own),
        row("POST /v1/reset", .team, cost: "10,000 requests in memory", budget: own),
        row("POST /v1/faults", .team, cost: "one fault in memory", budget: "1,000 faults"),
        row("GET /v1/faults", .team, cost: "1,000 faults in memory", budget: own),
        row("DELETE /v1/faults", .team, cost: "1,000 faults in memory", budget: own),
        row("DELETE /v1/faults/{id}", .team, cost: "1,000 faults in memory", budget: own),
        row("GET /v1/clock", .team, cost: "nothing is read", budget: own),
        row("POST /v1/clock", .team, cost: "one round of each periodic task", budget: own),
        row("GET /emulators", .anyone, cost: "nothing is read", budget: shared),
    ]

    private static let server = [
        row("GET /", .anyone, cost: "nothing is read", budget: shared),
        row("GET /health", .anyone, cost: "nothing is read", budget: shared),
        row("GET /ready", .anyone, cost: "nothing is read", budget: shared),
        row("POST /checkin", .devices, cost: "one row of the store", budget: "the enrolment key's quota of devices"),
        row(
            "POST /c2dm/register3", .devices, cost: "three rows of the store",
            budget: "one registration for each app of the device"),
        row("GET /v1/registrations/{token}/encryption-key", .team, cost: look, budget: own),
        row(
            "GET /v1/notifications/events", .team, cost: "50 rows of the store four times a second",
            budget: "64 streams"),
        row("POST /v1/notifications", .team, cost: "one notification of the mailbox", budget: own),
        row("GET /v1/notifications/{id}", .team, cost: "the timelines of one id, 100 at most", budget: own),
        row(
            "DELETE /v1/notifications/{id}", .team, cost: "a command of the mailbox for each, 100 at most", budget: own),
        row(
            "POST /v1/media", .team, cost: "a file of the largest size",
            budget: "the team's upload slots and media quota"),
        row("GET /v1/media", .team, cost: page, budget: own),
        row("DELETE /v1/media/{name}", .team, cost: "one file", budget: own),
        row("GET /media/{name}", .anyone, cost: "one file, streamed", budget: "the slots of unproven connections"),
        row("GET /v1/reports", .team, cost: "one row for each day asked for", budget: own),
        row("GET /v1/reports/messages/{id}", .team, cost: look, budget: own),
        row("GET /v1/events", .team, cost: "pages of the export, streamed", budget: own),
        row("GET /v1beta1/projects/{project}/androidApps/{app}/deliveryData", .team, cost: page, budget: own),
        row("GET /v1/upstream", .team, cost: "a stream", budget: "the team's half of the streams"),
        row("POST /v1/upstream/ack", .team, cost: "one statement of the store", budget: own),
        row("GET /v1/upstream/messages/{id}", .team, cost: look, budget: own),
        row("GET /v1/notifications", .team, cost: page, budget: own),
        row("GET /v1/devices", .team, cost: page, budget: own),
        row("GET /v1/devices/{id}", .team, cost: "what waits for one device", budget: own),
        row("POST /v1/devices/{id}/block", .anyone, cost: look, budget: shared),
        row("POST /v1/devices/{id}/unblock", .anyone, cost: look, budget: shared),
        row("POST /v1/devices/{id}/revoke", .anyone, cost: "the device's registrations", budget: shared),
        row("GET /v1/status", .anyone, cost: "the certificates of all teams", budget: shared),
        row("GET /v1/metrics/history", .anyone, cost: "1,440 samples in memory", budget: shared),
        row("GET /v1/relay/accounts", .anyone, cost: "100 accounts of 64 devices", budget: shared),
        row("GET /v1/apps", .team, cost: page, budget: own),
        row("GET /v1/audit", .team, cost: "2,000 rows of the store", budget: own),
        row("GET /v1/audit/export", .team, cost: "500 rows at a time, streamed", budget: own),
    ]

    private static let firebase = [
        row("POST /token", .team, cost: "one signature of RSA or ECDSA", budget: shared),
        row("POST /o/oauth2/token", .team, cost: "one signature of RSA or ECDSA", budget: shared),
        row("POST /oauth2/v4/token", .team, cost: "one signature of RSA or ECDSA", budget: shared),
        row(
            "POST /v1/projects/{project}/messages:send", .team, cost: "a group's 20 notifications",
            budget: "the project's messages a minute"),
        row(
            "POST /fcm/send", .team, cost: "1,000 notifications", budget: "the project's messages a minute"),
        row("GET /_matrix/push/v1/notify", .anyone, cost: "nothing is read", budget: shared),
        row(
            "POST /_matrix/push/v1/notify", .clients, cost: "a notification for each device that the body names",
            budget: "the project's messages a minute"),
        row(
            "POST /gateway/{key}/api/v1/send_push", .team, cost: "one notification",
            budget: "the project's messages a minute"),
        row("POST /gateway/{key}/api/v1/ack", .team, cost: look, budget: own),
        row("GET /gateway/{key}/version", .team, cost: look, budget: own),
        row(
            "POST /gateway/{key}/push/apn/send", .team, cost: "one notification",
            budget: "the project's messages a minute"),
        row(
            "POST /gateway/{key}/push/gcm/send", .team, cost: "one notification",
            budget: "the project's messages a minute"),
        row("POST /fcm/notification", .team, cost: "a group's 20 tokens", budget: own),
        row("GET /fcm/notification", .team, cost: look, budget: own),
        row("POST /wp/{token}", .clients, cost: "one notification", budget: "the project's messages a minute"),
        row("POST /fcm/send/{token}", .clients, cost: "one notification", budget: "the project's messages a minute"),
        row("POST /wpush/v2/{token}", .clients, cost: "one notification", budget: "the project's messages a minute"),
        row("GET /wp/{token}/messages/{id}", .clients, cost: look, budget: own),
        row("DELETE /wp/{token}/messages/{id}", .clients, cost: "one command of the mailbox", budget: own),
        row(
            "POST /v1/projects/{project}/installations", .clients, cost: look,
            budget: "the enrolment key's quota of installations"),
        row("GET /v1/projects/{project}/installations/{installation}", .clients, cost: look, budget: own),
        row(
            "DELETE /v1/projects/{project}/installations/{installation}", .clients,
            cost: "the installation's registrations", budget: own),
        row(
            "POST /v1/projects/{project}/installations/{installation}/authTokens:generate", .clients, cost: look,
            budget: own),
        row("POST /v1/projects/{project}/registrations", .clients, cost: look, budget: own),
        row("PATCH /v1/projects/{project}/registrations/{token}", .clients, cost: look, budget: own),
        row("DELETE /v1/projects/{project}/registrations/{token}", .clients, cost: look, budget: own),
        row(
            "POST /v1/broadcasts", .team, cost: "one row, and a device's copy in its own time",
            budget: "the project's fan-outs"),
        row(
            "POST /iid/v1:batchAdd", .team, cost: "1,000 subscriptions", budget: "the project's subscriptions a second"),
        row(
            "POST /iid/v1:batchRemove", .team, cost: "1,000 subscriptions",
            budget: "the project's subscriptions a second"),
        row("POST /iid/v1:batchImport", .team, cost: "100 registrations", budget: own),
        row(
            "POST /iid/v1/{token}/rel/topics/{topic}", .team, cost: "one subscription",
            budget: "the project's subscriptions a second"),
        row(
            "DELETE /iid/v1/{token}/rel/topics/{topic}", .team, cost: "one subscription",
            budget: "the project's subscriptions a second"),
        row("GET /iid/info/{token}", .team, cost: "a token's 2,000 topics", budget: own),
        row(
            "POST /v1/projects/{project}/registrations/{token}/topicSubscriptions", .clients, cost: look,
            budget: "a token's 2,000 topics"),
        row(
            "GET /v1/projects/{project}/registrations/{token}/topicSubscriptions", .clients,
            cost: "a token's 2,000 topics", budget: own),
        row(
            "GET /v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", .clients,
            cost: "a token's 2,000 topics", budget: own),
        row(
            "PATCH /v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", .clients, cost: look,
            budget: "a token's 2,000 topics"),
        row(
            "DELETE /v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", .clients, cost: look,
            budget: own),
    ]

    private static let written = "the hub's quotas, and writes a second by key and by address"
    private static let evaluated = "an expression over the hub's audience, on the caller's threads"

    private static let hubOfAzure = [
        row("PUT /{hub}/installations/{id}", .clients, cost: "one installation with 60 tags", budget: written),
        row("PATCH /{hub}/installations/{id}", .clients, cost: "one installation with 60 tags", budget: written),
        row("GET /{hub}/installations/{id}", .clients, cost: look, budget: own),
        row("DELETE /{hub}/installations/{id}", .clients, cost: look, budget: own),
        row("POST /{hub}/registrationids", .clients, cost: "nothing is stored", budget: own),
        row("POST /{hub}/registrations", .clients, cost: "one registration", budget: written),
        row("PUT /{hub}/registrations/{id}", .clients, cost: "one registration", budget: written),
        row("GET /{hub}/registrations/{id}", .clients, cost: look, budget: own),
        row("DELETE /{hub}/registrations/{id}", .clients, cost: look, budget: own),
        row("GET /{hub}/registrations", .clients, cost: page, budget: own),
        row("GET /{hub}/tags/{id}/registrations", .team, cost: page, budget: own),
        row("POST /{hub}/messages", .team, cost: evaluated, budget: own),
        row("POST /{hub}/messages/$batch", .team, cost: "1,000 recipients", budget: own),
        row("GET /{hub}/messages/{id}", .team, cost: look, budget: own),
        row("POST /{hub}/schedulednotifications", .team, cost: look, budget: own),
        row("DELETE /{hub}/schedulednotifications/{id}", .team, cost: look, budget: own),
        row("GET /{hub}/feedbackcontainer", .team, cost: "nothing is read", budget: own),
        row("PUT /api/notifications/installations", .clients, cost: "one installation with 60 tags", budget: written),
        row("DELETE /api/notifications/installations/{id}", .clients, cost: look, budget: own),
        row("POST /api/notifications/requests", .clients, cost: evaluated, budget: own),
    ]

    private static let hubOfOurs =
        [
            row("GET /v1/openapi.json", .anyone, cost: "bytes that were made once", budget: shared),
            row(
                "POST /v1/payloads/check", .team, cost: "three payloads for each of 201 languages", budget: own),
            row("GET /v1/hubs/{hub}", .team, cost: look, budget: own),
            row("GET /v1/hubs/{hub}/installations", .team, cost: page, budget: own),
            row(
                "PUT /v1/hubs/{hub}/installations/{id}", .clients, cost: "one installation with 60 tags",
                budget: written),
            row(
                "PATCH /v1/hubs/{hub}/installations/{id}", .clients, cost: "one installation with 60 tags",
                budget: written),
            row("GET /v1/hubs/{hub}/installations/{id}", .clients, cost: look, budget: own),
            row("DELETE /v1/hubs/{hub}/installations/{id}", .clients, cost: look, budget: own),
            row("DELETE /v1/hubs/{hub}/users/{id}", .team, cost: "the person's installations", budget: own),
            row("GET /v1/hubs/{hub}/users/{id}/export", .team, cost: "the person's installations", budget: own),
            row("POST /v1/hubs/{hub}/audience", .team, cost: evaluated, budget: own),
            row("POST /v1/hubs/{hub}/preview", .team, cost: "one rendered payload", budget: own),
            row("POST /v1/hubs/{hub}/campaigns", .team, cost: evaluated, budget: own),
            row(
                "POST /v1/hubs/{hub}/campaigns/preview", .team, cost: "one rendered payload for each platform",
                budget: own),
            row("POST /v1/hubs/{hub}/campaigns/test", .team, cost: "ten recipients", budget: own),
            row("GET /v1/hubs/{hub}/webhook", .team, cost: look, budget: own),
            row("PUT /v1/hubs/{hub}/webhook", .team, cost: look, budget: own),
            row("DELETE /v1/hubs/{hub}/webhook", .team, cost: look, budget: own),
        ]
        + ["campaigns", "sends"].flatMap { sends("/v1/hubs/{hub}/\($0)") }

    private static func sends(_ path: String) -> [Row] {
        [
            row("GET \(path)", .team, cost: page, budget: own),
            row("GET \(path)/{id}", .team, cost: look, budget: own),
            row("GET \(path)/{id}/faults", .team, cost: page, budget: own),
            row("POST \(path)/{id}/pause", .team, cost: look, budget: own),
            row("POST \(path)/{id}/resume", .team, cost: look, budget: own),
            row("POST \(path)/{id}/cancel", .team, cost: look, budget: own),
            row(
                "POST \(path)/{id}/withdraw", .team, cost: "a step of the send, the rest in the background", budget: own
            ),
            row("GET \(path)/{id}/report", .team, cost: "counts over the send's recipients", budget: own),
            row("GET \(path)/{id}/recipients", .team, cost: page, budget: own),
            row("GET \(path)/{id}/export", .team, cost: "500 rows at a time, streamed", budget: own),
            row("GET \(path)/{id}/live", .team, cost: "a stream", budget: "the team's half of the streams"),
        ]
    }
}
