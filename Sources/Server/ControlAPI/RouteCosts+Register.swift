extension RouteCosts {
    /// The routes that change the register, on the development listener and for the pages alone.
    static let register: [Row] =
        ["teams", "hubs"].flatMap(list)
        + ["keys", "certificates", "service-accounts", "enrolment-keys", "hubs/{hub}/keys", "hubs/{hub}/credentials"]
        .flatMap { list($0) + [teamRow("DELETE /v1/\($0)/{id}", cost: page)] } + registeredApps

    private static func list(_ path: String) -> [Row] {
        [
            teamRow("GET /v1/\(path)", cost: page),
            teamRow("POST /v1/\(path)", cost: "a new key of RSA, and a row of the store"),
        ]
    }

    /// The pages by which people change the register.
    static let consoleOfAccount: [Row] =
        [
            "", "/teams", "/apps", "/apps/{topic}", "/apps/{topic}/remove", "/certificates",
            "/certificates/{id}/revoke", "/keys", "/keys/{id}/revoke", "/service-accounts",
            "/service-accounts/{id}/revoke", "/enrolment-keys",
            "/enrolment-keys/{id}/revoke", "/hubs", "/hubs/{hub}", "/hubs/{hub}/keys/{id}/revoke",
            "/hubs/{hub}/credentials/{id}/remove",
        ].map { accountPage("GET /console/account\($0)", cost: page) }
        + [
            "/teams", "/apps", "/apps/{topic}", "/apps/{topic}/remove", "/apps/{topic}/webhook",
            "/apps/{topic}/webhook/remove", "/certificates", "/certificates/import", "/certificates/{id}/renew",
            "/certificates/{id}/revoke", "/keys", "/keys/import", "/keys/{id}/revoke", "/service-accounts",
            "/service-accounts/{id}/revoke", "/enrolment-keys", "/enrolment-keys/{id}/revoke", "/hubs",
            "/hubs/{hub}/keys", "/hubs/{hub}/keys/{id}/revoke", "/hubs/{hub}/credentials",
            "/hubs/{hub}/credentials/{id}/remove", "/hubs/{hub}/webhook", "/hubs/{hub}/webhook/remove",
        ].map { accountPage("POST /console/account\($0)", cost: "a new key of RSA, and a page") }

    private static let registeredApps: [Row] = [
        teamRow("POST /v1/certificates/{id}/renew", cost: "one signature of ECDSA"),
        teamRow("POST /v1/apps", cost: look),
        teamRow("PATCH /v1/apps/{topic}", cost: page),
        teamRow("DELETE /v1/apps/{topic}", cost: "the app's registrations"),
        teamRow("GET /v1/apps/{topic}/webhook", cost: page),
        teamRow("PUT /v1/apps/{topic}/webhook", cost: page),
        teamRow("DELETE /v1/apps/{topic}/webhook", cost: page),
        teamRow("GET /v1/apps/{topic}/webhook/answers", cost: page),
        teamRow("GET /v1/hubs/{hub}/webhook/answers", cost: look),
    ]

    private static let look = "one row of the store"
    private static let page = "1,000 rows of the store"

    private static func teamRow(_ route: String, cost: String) -> Row {
        Row(route: route, callers: .team, cost: cost, budget: "the caller's queue of work")
    }

    private static func accountPage(_ route: String, cost: String) -> Row {
        Row(
            route: route, callers: .anyone, cost: cost,
            budget: "the queue of work of everybody without a credential")
    }
}
