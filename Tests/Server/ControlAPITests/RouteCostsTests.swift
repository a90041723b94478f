import Hummingbird
import Testing

@testable import ControlAPI

@Test func `each route has one row, with a cost and a budget`() {
    let routes = RouteCosts.rows.map(\.route)
    #expect(Set(routes).count == routes.count)
    #expect(RouteCosts.rows.allSatisfy { !$0.cost.isEmpty && !$0.budget.isEmpty })
}

@Test func `a route without a row is found, whatever its method`() {
    let router = Router()
    router.get("v1/media/:name") { _, _ in "" }
    router.put("v1/media/:name") { _, _ in "" }
    router.get("health") { _, _ in "" }
    let missing = RouteCosts.missing(in: router.routes.map { ($0.method, $0.path) })
    #expect(missing == ["GET /v1/media/{name}", "PUT /v1/media/{name}"])
}
