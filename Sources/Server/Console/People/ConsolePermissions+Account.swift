extension ConsolePermissions {
    /// The pages of the account: for people who may change what belongs to every team.
    static let account: [Rule] =
        accountReading.map { Rule(route: "GET account\($0)", need: .admin, isForAllTeams: true) }
        + accountChanges.map { path, page in
            Rule(
                route: "POST account\(path)", need: .admin, isForAllTeams: true, needsConfirmation: true,
                page: "/console/account\(page)")
        }

    private static let accountReading = [
        "", "/teams", "/apps", "/apps/:topic", "/apps/:topic/remove", "/certificates", "/certificates/:id/revoke",
        "/keys",
        "/keys/:id/revoke", "/service-accounts", "/service-accounts/:id/revoke", "/enrolment-keys",
        "/enrolment-keys/:id/revoke", "/hubs", "/hubs/:hub", "/hubs/:hub/keys/:id/revoke",
        "/hubs/:hub/credentials/:id/remove",
    ]

    /// The forms, each with the list that it belongs to.
    private static let accountChanges = [
        ("/teams", "/teams"), ("/apps", "/apps"), ("/apps/:topic", "/apps"), ("/apps/:topic/remove", "/apps"),
        ("/apps/:topic/webhook", "/apps"), ("/apps/:topic/webhook/remove", "/apps"),
        ("/certificates", "/certificates"), ("/certificates/import", "/certificates"),
        ("/certificates/:id/renew", "/certificates"), ("/certificates/:id/revoke", "/certificates"),
        ("/keys", "/keys"), ("/keys/import", "/keys"), ("/keys/:id/revoke", "/keys"),
        ("/service-accounts", "/service-accounts"), ("/service-accounts/:id/revoke", "/service-accounts"),
        ("/enrolment-keys", "/enrolment-keys"), ("/enrolment-keys/:id/revoke", "/enrolment-keys"), ("/hubs", "/hubs"),
        ("/hubs/:hub/keys", "/hubs"), ("/hubs/:hub/keys/:id/revoke", "/hubs"), ("/hubs/:hub/credentials", "/hubs"),
        ("/hubs/:hub/credentials/:id/remove", "/hubs"), ("/hubs/:hub/webhook", "/hubs"),
        ("/hubs/:hub/webhook/remove", "/hubs"),
    ]
}
