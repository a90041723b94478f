import Testing

@testable import ControlAPI

@Test func `each route that changes something says whether it is audited`() {
    #expect(RouteAudits.missing(in: RouteCosts.rows.map(\.route)).isEmpty)
}

@Test func `a route without a decision is found, whatever its method`() {
    let routes = ["GET /v1/new", "POST /v1/new", "DELETE /v1/new/{id}", "POST /v1/faults", "POST /console/new"]
    #expect(RouteAudits.missing(in: routes) == ["POST /v1/new", "DELETE /v1/new/{id}"])
}
