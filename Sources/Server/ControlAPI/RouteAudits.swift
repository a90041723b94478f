import PushServer

/// Says for each route that changes something whether the audit log gets an entry of it.
enum RouteAudits {
    /// The decision for a route.
    enum Decision: Hashable, Sendable {
        /// A request gets an entry of this action; its object is in the path.
        case entry(AuditAction)
        /// A request gets an entry of this action; its object gets a name by the change, which the answer tells.
        case making(AuditAction)
        /// The route writes its entries itself, since it knows more than its path says.
        case itself
        /// A request gets no entry, for this reason.
        case none(String)
    }

    /// The methods that change something.
    static let methods: Set = ["POST", "PUT", "PATCH", "DELETE"]

    /// The routes that change something and have no decision; there is none.
    static func missing(in routes: [String]) -> [String] {
        routes.filter { methods.contains(String($0.prefix { $0 != " " })) && decision(of: $0) == nil }
    }

    /// The decision for a route of ``RouteCosts``; `nil` where there is none.
    static func decision(of route: String) -> Decision? {
        if let decision = decisions[route] { return decision }
        return route.contains(" /console/") ? Decision.none("a page calls routes that have entries") : nil
    }

    /// Whether a route is there by which the object of a path is read.
    static func canRead(_ path: String) -> Bool { readable.contains("GET \(path)") }

    private static let readable = Set(RouteCosts.rows.map(\.route).filter { $0.hasPrefix("GET ") })

    private static let decisions: [String: Decision] = {
        var decisions = entries
        for route in written { decisions[route] = .itself }
        for (reason, routes) in others { for route in routes { decisions[route] = Decision.none(reason) } }
        return decisions
    }()

    private static let entries: [String: Decision] = {
        var entries: [String: Decision] = [
            "POST /v1/reset": .entry(.resetTests), "POST /v1/faults": .making(.addFault),
            "DELETE /v1/faults": .entry(.removeFault), "DELETE /v1/faults/{id}": .entry(.removeFault),
            "POST /v1/clock": .entry(.advanceClock),
            "POST /v1/notifications": .making(.sendNotification),
            "DELETE /v1/notifications/{id}": .entry(.withdrawNotification),
            "POST /v1/devices/{id}/block": .entry(.blockDevice),
            "POST /v1/devices/{id}/unblock": .entry(.unblockDevice),
            "POST /v1/devices/{id}/revoke": .entry(.revokeDevice),
            "POST /v1/media": .making(.addMedia), "DELETE /v1/media/{name}": .entry(.deleteMedia),
            "POST /fcm/notification": .making(.changeGroup),
            "POST /iid/v1:batchAdd": .entry(.subscribe), "POST /iid/v1:batchRemove": .entry(.unsubscribe),
            "POST /iid/v1/{token}/rel/topics/{topic}": .entry(.subscribe),
            "DELETE /iid/v1/{token}/rel/topics/{topic}": .entry(.unsubscribe),
            "DELETE /{hub}/schedulednotifications/{id}": .entry(.cancelCampaign),
            "DELETE /v1/hubs/{hub}/users/{id}": .entry(.deletePerson),
            "PUT /v1/hubs/{hub}/webhook": .entry(.setHubWebhook),
            "DELETE /v1/hubs/{hub}/webhook": .entry(.removeHubWebhook),
            "POST /v1/hubs/{hub}/campaigns": .making(.beginCampaign),
            "POST /v1/hubs/{hub}/campaigns/test": .making(.testCampaign),
        ]
        for path in ["campaigns", "sends"].map({ "POST /v1/hubs/{hub}/\($0)/{id}" }) {
            entries["\(path)/pause"] = .entry(.pauseCampaign)
            entries["\(path)/resume"] = .entry(.resumeCampaign)
            entries["\(path)/cancel"] = .entry(.cancelCampaign)
            entries["\(path)/withdraw"] = .entry(.withdrawCampaign)
        }
        return entries
    }()

    /// The routes that write their entries themselves.
    private static let written = [
        "POST /v1/teams", "POST /v1/apps", "PATCH /v1/apps/{topic}", "DELETE /v1/apps/{topic}",
        "PUT /v1/apps/{topic}/webhook", "DELETE /v1/apps/{topic}/webhook", "POST /v1/keys", "DELETE /v1/keys/{id}",
        "POST /v1/certificates", "DELETE /v1/certificates/{id}", "POST /v1/certificates/{id}/renew",
        "POST /v1/service-accounts", "DELETE /v1/service-accounts/{id}", "POST /v1/enrolment-keys",
        "DELETE /v1/enrolment-keys/{id}", "POST /v1/hubs", "POST /v1/hubs/{hub}/keys",
        "DELETE /v1/hubs/{hub}/keys/{id}",
        "POST /v1/hubs/{hub}/credentials", "DELETE /v1/hubs/{hub}/credentials/{id}", "POST /v1/teams", "POST /v1/apps",
        "PATCH /v1/apps/{topic}", "DELETE /v1/apps/{topic}", "PUT /v1/apps/{topic}/webhook",
        "DELETE /v1/apps/{topic}/webhook", "POST /v1/keys", "DELETE /v1/keys/{id}", "POST /v1/certificates",
        "DELETE /v1/certificates/{id}", "POST /v1/certificates/{id}/renew", "POST /v1/service-accounts",
        "DELETE /v1/service-accounts/{id}", "POST /v1/enrolment-keys", "DELETE /v1/enrolment-keys/{id}",
    ]

    private static let others: [(String, [String])] = [
        (
            "a provider sends by it",
            [
                "POST /v1/broadcasts", "POST /v1/projects/{project}/messages:send",
                "POST /fcm/send", "POST /wp/{token}", "POST /fcm/send/{token}", "POST /wpush/v2/{token}",
                "POST /_matrix/push/v1/notify", "POST /gateway/{key}/api/v1/send_push",
                "POST /gateway/{key}/api/v1/ack", "POST /gateway/{key}/push/apn/send",
                "POST /gateway/{key}/push/gcm/send",
                "DELETE /wp/{token}/messages/{id}", "POST /{hub}/messages", "POST /{hub}/messages/$batch",
                "POST /{hub}/schedulednotifications", "POST /api/notifications/requests",
            ]
        ),
        (
            "a device or an app registers by it",
            [
                "POST /checkin", "POST /c2dm/register3", "POST /iid/v1:batchImport",
                "POST /v1/projects/{project}/installations",
                "DELETE /v1/projects/{project}/installations/{installation}",
                "POST /v1/projects/{project}/installations/{installation}/authTokens:generate",
                "POST /v1/projects/{project}/registrations", "PATCH /v1/projects/{project}/registrations/{token}",
                "DELETE /v1/projects/{project}/registrations/{token}",
                "POST /v1/projects/{project}/registrations/{token}/topicSubscriptions",
                "PATCH /v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}",
                "DELETE /v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}",
                "PUT /{hub}/installations/{id}", "PATCH /{hub}/installations/{id}",
                "DELETE /{hub}/installations/{id}", "POST /{hub}/registrationids", "POST /{hub}/registrations",
                "PUT /{hub}/registrations/{id}", "DELETE /{hub}/registrations/{id}",
                "PUT /api/notifications/installations", "DELETE /api/notifications/installations/{id}",
                "PUT /v1/hubs/{hub}/installations/{id}", "PATCH /v1/hubs/{hub}/installations/{id}",
                "DELETE /v1/hubs/{hub}/installations/{id}",
            ]
        ),
        (
            "it changes nothing",
            [
                "POST /token", "POST /o/oauth2/token", "POST /oauth2/v4/token", "POST /v1/payloads/check",
                "POST /v1/hubs/{hub}/audience", "POST /v1/hubs/{hub}/preview",
                "POST /v1/hubs/{hub}/campaigns/preview",
            ]
        ),
        ("a provider notes how far it has read", ["POST /v1/upstream/ack"]),
    ]
}
