import AgentProtocol
import PushCore
import Testing

@testable import AgentRuntime

struct RegistrationFlowTests {
    private static let team = TeamID(rawValue: "TEAM000001")
    private let app: BundleID = "com.example.todo"

    /// The next question, where the server gave tokens to these apps that are gone.
    private func next(_ flow: inout RegistrationFlow, registered: [BundleID: TeamID] = [:]) -> RegistrationFlow.Request?
    {
        flow.next { registered[$0] }
    }

    /// A flow whose installed app wants this and has been asked for.
    private func asked(_ change: RegistrationFlow.RequestedChange) throws -> (
        RegistrationFlow, RegistrationFlow.Request
    ) {
        var flow = RegistrationFlow()
        flow.install(app, team: Self.team)
        flow.setRequestedChange(change, for: app)
        flow.beginRound()
        let request = try #require(next(&flow))
        #expect(request.change == change)
        return (flow, request)
    }

    @Test func `a round asks for each app once, in the order of their names`() {
        var flow = RegistrationFlow()
        for name: BundleID in ["c", "a", "b"] {
            flow.install(name, team: Self.team)
            flow.setRequestedChange(.token, for: name)
        }
        flow.beginRound()
        var names: [BundleID] = []
        while let request = next(&flow) { names.append(request.app) }
        #expect(names == ["a", "b", "c"])
        // Nothing was answered, so the next round asks again.
        flow.beginRound()
        #expect(next(&flow)?.app == "a")
    }

    @Test func `an app that is asked for has the team of its manifest`() throws {
        var (flow, _) = try asked(.token)
        flow.install(app, team: TeamID(rawValue: "TEAM000002"))
        flow.beginRound()
        #expect(next(&flow)?.team.rawValue == "TEAM000002")
    }

    @Test(arguments: [RegistrationFlow.RequestedChange.token, .end])
    func `an answer to what is wanted settles it`(change: RegistrationFlow.RequestedChange) throws {
        var (flow, request) = try asked(change)
        #expect(flow.record(of: request) == (change == .token ? .token : .ended))
        #expect(flow.settle(request) == true)
        #expect(flow.requestedChange(of: app) == nil)
        flow.beginRound()
        #expect(next(&flow) == nil)
    }

    @Test(arguments: [(RegistrationFlow.RequestedChange.token, RegistrationFlow.RequestedChange.end), (.end, .token)])
    func `an answer to what was wanted before is stored and settles nothing`(
        asked change: RegistrationFlow.RequestedChange, wanted: RegistrationFlow.RequestedChange
    ) throws {
        var (flow, request) = try asked(change)
        flow.setRequestedChange(wanted, for: app)
        #expect(flow.record(of: request) == (change == .token ? .token : .ended))
        #expect(flow.settle(request) == false)
        flow.beginRound()
        #expect(next(&flow)?.change == wanted)
    }

    @Test func `an app that is gone wants no token any more, and its own ends`() {
        var flow = RegistrationFlow()
        flow.install(app, team: Self.team)
        flow.setRequestedChange(.token, for: app)
        flow.remove(app)
        flow.beginRound()
        let request = next(&flow, registered: [app: Self.team])
        #expect(request == .init(app: app, team: Self.team, change: .end, isInstalled: false))
    }

    @Test func `nothing is asked for an app that is gone and has no token`() {
        var flow = RegistrationFlow()
        flow.setRequestedChange(.end, for: app)
        flow.beginRound()
        #expect(next(&flow) == nil)
        #expect(flow.requestedChange(of: app) == nil)
    }

    @Test func `a token that comes for an app that is gone meanwhile is kept until it has ended`() throws {
        var (flow, request) = try asked(.token)
        flow.remove(app)
        #expect(flow.record(of: request) == .token)
        #expect(flow.settle(request) == false)
        flow.beginRound()
        let end = try #require(next(&flow, registered: [app: Self.team]))
        #expect(end.change == .end)
        #expect(flow.record(of: end) == .nothing)
        #expect(flow.settle(end) == true)
    }

    @Test func `an end that was asked for an app that is there again leaves it without a token, not ended`() throws {
        var flow = RegistrationFlow()
        flow.setRequestedChange(.end, for: app)
        flow.beginRound()
        let end = try #require(next(&flow, registered: [app: Self.team]))
        flow.install(app, team: Self.team)
        flow.setRequestedChange(.token, for: app)
        #expect(flow.record(of: end) == .nothing)
        #expect(flow.settle(end) == false)
        flow.beginRound()
        #expect(next(&flow)?.change == .token)
    }

    @Test func `what the server refuses an installed app changes nothing that is stored`() throws {
        for change in [RegistrationFlow.RequestedChange.token, .end] {
            let (flow, request) = try asked(change)
            #expect(flow.recordOfRefusal(of: request) == nil)
        }
    }

    @Test func `an end that the server refuses for an app that is gone is forgotten`() throws {
        var flow = RegistrationFlow()
        flow.setRequestedChange(.end, for: app)
        flow.beginRound()
        let end = try #require(next(&flow, registered: [app: Self.team]))
        #expect(flow.recordOfRefusal(of: end) == .nothing)
        #expect(flow.settle(end) == true)
    }
}
