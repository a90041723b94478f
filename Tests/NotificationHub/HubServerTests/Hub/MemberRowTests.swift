import HubProtocol
import PushCore
import PushServer
import Testing

@testable import HubServer

/// The ends of the rows, page by page, which are those of the report.
private func ends(_ record: SendRecord, _ world: HubWorld) async throws -> [SendReport.End: Int] {
    let record = try await world.now(record)
    var all: [SendRecipient] = []
    while all.count < 99 {
        let page = try await world.hubs.recipients(
            of: record, hub: world.hub, after: all.last.map { (installation: $0.installation, part: $0.part) },
            limit: 2, by: NoTimelines())
        all += page
        if page.count < 2 { break }
    }
    #expect(all.map(\.installation) == all.map(\.installation).sorted())
    #expect(Set(all.map(\.installation)).count == all.count)
    let counts = Dictionary(grouping: all, by: \.end).mapValues(\.count)
    let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(counts == report.ends.filter { $0.value > 0 })
    let rows = Dictionary(grouping: all, by: { $0.appVersion ?? "" }).mapValues(\.count)
    #expect(rows == report.parts[.version]?.mapValues { $0[.targeted] })
    for dimension in [SendReport.Dimension.platform, .locale] {
        #expect(report.parts[dimension]?.values.reduce(0) { $0 + $1[.targeted] } == report.funnel[.targeted])
    }
    return counts
}

@Test func `whose turn has not come is pending in the rows, and ended with the send`() async throws {
    let world = try await HubWorld()
    for (id, version) in [("one", "1.0"), ("two", "1.0"), ("three", "1.0"), ("four", "2.0"), ("five", "")] {
        try await world.put(id, version.isEmpty ? "" : #","appVersion":"\#(version)""#)
    }
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 2), for: world.hub)
    _ = try await world.runner.runAll()
    #expect(try await ends(record, world) == [.accepted: 2, .pending: 3])
    _ = try await world.hubs.cancel(record.id, of: world.hub)
    #expect(try await ends(record, world) == [.accepted: 2, .ended: 3])
}

@Test func `who is left out of a campaign is ineligible in the rows`() async throws {
    let world = try await HubWorld()
    for id in ["one", "two"] { try await world.put(id, #","appVersion":"1.0""#) }
    _ = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    try await world.put("three")
    let record = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    _ = try await world.runner.runAll()
    #expect(try await ends(record, world) == [.accepted: 1, .ineligible: 2])
}
