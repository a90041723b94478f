extension ConsolePermissions {
    /// The pages of hubs and of reports. What they show is of the teams that their routes of the API show.
    static let hubs: [Rule] =
        [
            "campaigns", "campaigns/:id", "campaigns/:id/live", "campaigns/:id/recipients", "campaigns/:id/export",
            "installations", "installations/:id", "audiences", "templates", "users/:id", "reports", "reports/rows",
            "reports/events", "reports/sends",
        ].map { Rule(route: "GET \($0)", need: .reader) }
        + [
            "GET campaigns/new", "POST campaigns/new", "POST campaigns/:id/pause", "POST campaigns/:id/resume",
            "POST campaigns/:id/cancel", "POST campaigns/:id/withdraw",
        ].map { Rule(route: $0, need: .sender, page: "/console/campaigns") }
        + [
            "POST installations/:id/tags", "POST installations/:id/document", "POST installations/:id/delete",
            "GET users/:id/export",
        ].map { Rule(route: $0, need: .admin, page: "/console/installations") }
        + [
            Rule(route: "POST users/:id/erase", need: .admin, needsConfirmation: true, page: "/console/installations")
        ]
}
