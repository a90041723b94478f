extension RouteCosts {
    /// The pages of hubs and of reports.
    static let consoleOfHubs: [Row] =
        [
            "campaigns", "campaigns/new", "campaigns/{id}", "campaigns/{id}/recipients", "installations",
            "installations/{id}", "users/{id}", "audiences", "templates",
        ].map {
            hubPage("GET /console/\($0)", cost: "1,000 rows of the store, or an expression over the hub's audience")
        }
        + [
            "campaigns/new", "campaigns/{id}/pause", "campaigns/{id}/resume", "campaigns/{id}/cancel",
            "campaigns/{id}/withdraw", "installations/{id}/tags", "installations/{id}/document",
            "installations/{id}/delete", "users/{id}/erase",
        ].map { hubPage("POST /console/\($0)", cost: "what its route of the hub costs") }
        + [
            hubPage("GET /console/campaigns/{id}/export", cost: "500 rows at a time, streamed"),
            Row(
                route: "GET /console/campaigns/{id}/live", callers: .anyone, cost: "a stream",
                budget: "the team's half of the streams"),
            hubPage("GET /console/users/{id}/export", cost: "the person's installations"),
            hubPage("GET /console/reports", cost: "one row for each day asked for"),
            hubPage("GET /console/reports/rows", cost: "one row for each day asked for"),
            hubPage("GET /console/reports/events", cost: "pages of the export, streamed"),
            hubPage("GET /console/reports/sends", cost: "one row of the store"),
            hubPage("GET /console/fragments.js", cost: "nothing is read"),
        ]

    private static func hubPage(_ route: String, cost: String) -> Row {
        Row(
            route: route, callers: .anyone, cost: cost,
            budget: "the queue of work of everybody without a credential")
    }
}
