import AldabaTestSupport
import HubProtocol
import PushCore
import PushServer
import Testing

@testable import HubServer

private typealias Step = SendFunnel.Step

/// The report of a send to one, after a device told such states.
private func report(_ states: [NotificationState]) -> SendReport {
    let now = Timestamp(seconds: 1_000_000)
    var row = SendRecipient(
        installation: 1, part: "", name: "i", platform: .aldaba, outcome: .success, reason: "Success", end: .waiting,
        at: now, attempts: 1)
    row.follow(
        NotificationTimeline(
            id: NotificationID(rawValue: 1), apnsID: "7c5d7a4e-0000-4000-8000-000000000001",
            team: TeamID(rawValue: "TEAM000001"), topic: Topic(rawValue: "com.example.todo"), device: DeviceID(1),
            environment: .sandbox, entries: states.map { TimelineEntry(at: now, state: $0, source: .server) }))
    let count = RecipientCount(
        platform: row.platform, locale: nil, appVersion: nil, outcome: row.outcome, reason: row.reason, end: row.end,
        reached: row.reached, isTried: true, count: 1)
    return SendReport(.completed, targeted: 1, [count], seen: 1, leftOut: [:])
}

@Test(
    arguments: [
        ([.stored, .sent], .waiting, []),
        ([.sent, .acked], .delivered, [.delivered]),
        ([.handed], .delivered, [.delivered]),
        ([.acked, .presented], .presented, [.delivered, .presented]),
        ([.acked, .presented, .opened], .opened, [.delivered, .presented, .opened]),
        ([.acked, .presented, .action("buy")], .action, [.delivered, .presented, .action]),
        ([.acked, .presented, .dismissed], .dismissed, [.delivered, .presented, .dismissed]),
        // Who opens an app has its notifications taken away: that is no dismissal.
        ([.acked, .presented, .opened, .dismissed], .opened, [.delivered, .presented, .opened, .dismissed]),
        // A device may tell what a person did before the report that it was shown arrives.
        ([.acked, .opened, .presented], .opened, [.delivered, .presented, .opened]),
        ([.stored, .expired], .expired, [.expired]),
        ([.stored, .replaced], .ended, []),
        ([.acked, .presented, .withdrawn], .ended, [.delivered, .presented]),
        ([.acked, .presented, .opened, .withdrawn], .opened, [.delivered, .presented, .opened]),
        ([.acked, .undecryptable("x")], .ended, [.delivered]),
    ] as [([NotificationState], SendReport.End, Set<SendFunnel.Step>)])
func `how far a notification came, and what a person did, is in the report`(
    states: [NotificationState], end: SendReport.End, further: Set<SendFunnel.Step>
) {
    let report = report(states)
    #expect(report.ends == [end: 1])
    for step in Step.allCases {
        let isReached = further.union([.targeted, .eligible, .attempted, .accepted]).contains(step)
        #expect(report.funnel[step] == (isReached ? 1 : 0), "\(step)")
        #expect(report.parts[.platform]?["aldaba"]?[step] == report.funnel[step])
    }
    #expect(report.parts[.reason] == nil)
}

@Test func `each step says who knows it, and what people did is kept apart`() {
    #expect(
        Step.allCases.map { "\($0.rawValue) \($0.source) \($0.isEngagement)" } == [
            "targeted hub false", "eligible hub false", "attempted hub false", "accepted push service false",
            "delivered device false", "presented device false", "opened person true", "action person true",
            "dismissed person true", "expired server false",
        ])
}
