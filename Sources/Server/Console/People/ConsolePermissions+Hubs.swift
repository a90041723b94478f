extension ConsolePermissions {
    /// The pages of hubs and of reports. What they show is of the teams that their routes of the API show.
    static let hubs: [Rule] =
        [
            "campaigns", "campaigns/:id", "campaigns/:id/live", "campaigns/:id/recipients", "campaigns/:id/export",
            "installations", "installations/:id", "audiences", "templates", "users/:id", "reports", "reports/rows",
            "reports/events", "reports/sends",
        ].map { Rule(route: "GET \($0)", need: .reader) }
        + [
            "POST campaigns/:id/pause", "POST campaigns/:id/resume",
            "POST campaigns/:id/cancel", "POST campaigns/:id/withdraw",
        ].map { Rule(route: $0, need: .sender, page: "/console/campaigns") }
        + [
            "POST installations/:id/tags", "POST installations/:id/document",
        ].map { Rule(route: $0, need: .admin, page: "/console/installations") }
        + ["POST installations/:id/delete", "POST users/:id/erase", "GET users/:id/export"].map {
            Rule(route: $0, need: .admin, needsConfirmation: true, page: "/console/installations")
        }
        + ["GET campaigns/new", "POST campaigns/new"].map {
            Rule(route: $0, need: .sender, needsConfirmation: true, page: "/console/campaigns/new")
        }
}
