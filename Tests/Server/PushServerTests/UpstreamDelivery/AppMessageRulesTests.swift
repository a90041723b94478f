import PushCore
import Testing

@testable import PushServer

struct AppMessageRulesTests {
    private let now = Timestamp(seconds: 1_780_272_000)
    private let app = RegisteredApp(
        id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "DEMOTEAM01"),
        policy: MailboxPolicy())

    private func message(
        id: String = "m", to recipient: String = "demoteam01", data: [String: String] = ["a": "b"], raw: [UInt8] = [],
        ttl: Int64 = 60, queued: Int64 = 0
    ) -> UpstreamMessage {
        UpstreamMessage(
            persistentID: "p", category: app.topic.rawValue, recipient: recipient, appData: data, raw: raw,
            messageID: id, timeToLive: ttl, queued: queued)
    }

    private func read(_ message: UpstreamMessage) throws -> AppMessage {
        try AppMessageRules().read(message, from: try #require(DeviceID(7)), to: app, at: now)
    }

    @Test func `a message is what the app said, from the session's device`() throws {
        let read = try read(message(raw: [1]))
        #expect(read.device == DeviceID(7))
        #expect(read.messageID == "m")
        #expect(read.data == ["a": "b"])
        #expect(read.raw == [1])
        #expect(read.team == app.team)
        #expect(try self.read(message(id: "")).messageID == "p")
    }

    @Test(
        arguments: [(60, 0, 60), (60, 20, 40), (60, 55, 10), (60, 900, 10), (0, 0, 10), (86_400, -5, 86_400)]
            as [(Int64, Int64, Int64)])
    func `what is left of its time begins when it comes`(ttl: Int64, queued: Int64, left: Int64) throws {
        #expect(try read(message(ttl: ttl, queued: queued)).expiresAt == now + .seconds(left))
    }

    @Test(arguments: [
        "demoteam01", "DEMOTEAM01", "1366361600677153", "1366361600677153@gcm.googleapis.com",
        "1366361600677153@fcm.googleapis.com", "demoteam01@gcm.googleapis.com",
    ])
    func `a team has several names`(name: String) throws {
        let number = try #require(ProjectNumber(app.team)).description
        let name = name.replacing("1366361600677153", with: number)
        #expect(AppMessageRules.names(name, app.team))
        #expect(!AppMessageRules.names(name, TeamID(rawValue: "OTHERTEAM1")))
    }

    @Test(arguments: ["", "@gcm.googleapis.com", "1", "x@example.com", "+1"])
    func `others are not the team`(name: String) { #expect(!AppMessageRules.names(name, app.team)) }
}
