import AgentWire
import Foundation
import Testing

struct AgentMessageTests {
    @Test(arguments: GoldenMessages.fromApp.indices)
    func `an app's message reads and writes its golden text`(index: Int) throws {
        let (file, message) = GoldenMessages.fromApp[index]
        let golden = try GoldenMessages.bytes(file)
        #expect(try AppMessage(frame: golden) == message)
        #expect(try Array(AgentFrame.encode(message).dropFirst(4)) == golden)
    }

    @Test(arguments: GoldenMessages.fromAgent.indices)
    func `an agent's message reads and writes its golden text`(index: Int) throws {
        let (file, message) = GoldenMessages.fromAgent[index]
        let golden = try GoldenMessages.bytes(file)
        #expect(try AgentMessage(frame: golden) == message)
        #expect(try Array(AgentFrame.encode(message).dropFirst(4)) == golden)
    }

    @Test func `every golden text has its message`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: GoldenMessages.folder.path).sorted()
        let known = GoldenMessages.fromApp.map(\.file) + GoldenMessages.fromAgent.map(\.file)
        #expect(files == known.map { "\($0).json" }.sorted())
    }

    @Test func `a message of a later version is a value, and members of a later version are passed over`() throws {
        #expect(try AppMessage(frame: Array(#"{"type":"sing","song":[1]}"#.utf8)) == .unknown(type: "sing"))
        #expect(try AgentMessage(frame: Array(#"{"type":"sing"}"#.utf8)) == .unknown(type: "sing"))
        #expect(try AppMessage(frame: Array(#"{"type":"ready","mood":{"a":1}}"#.utf8)) == .ready)
    }

    @Test(arguments: [
        ("", "the text is not JSON"),
        ("{", "the text is not JSON"),
        ("[]", "the text is not a JSON object"),
        ("{}", "member `type` is missing"),
        (#"{"type":7}"#, "member `type` has another type"),
        (#"{"type":null}"#, "member `type` is null"),
        (#"{"type":"handled","outcome":"presented","options":1}"#, "member `notification` is missing"),
        (#"{"type":"handled","notification":1,"outcome":"eaten"}"#, "member `outcome` has a value that is not allowed"),
        (#"{"type":"handled","notification":1,"outcome":"presented","options":-1}"#, "a number in it does not fit"),
        (#"{"type":"stateChanged","state":"asleep"}"#, "member `state` has a value that is not allowed"),
        (#"{"type":"getSettings","request":99999999999999999999}"#, "a number in it does not fit"),
        (#"{"type":"getSettings","request":1.5}"#, "a number in it does not fit"),
    ])
    func `a text that is not a message is refused with what is wrong in it`(text: String, reason: String) throws {
        let error = #expect(throws: AgentFrameError.self) { try AppMessage(frame: Array(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "-")")
    }

    @Test(
        arguments: [Calendar.Identifier.gregorian, .hebrew, .chinese],
        ["firstWeekday", "minimumDaysInFirstWeek"])
    func `a calendar whose weeks are no numbers of any week is refused or read, and traps nothing`(
        identifier: Calendar.Identifier, member: String
    ) throws {
        let fields = DateComponents(calendar: Calendar(identifier: identifier), weekOfYear: 7)
        let trigger = try JSONEncoder().encode(NotificationTrigger.calendar(fields, repeats: true))
        let plain = try #require(String(data: trigger, encoding: .utf8))
        #expect(try Self.trigger(plain) == .calendar(fields, repeats: true))
        let given = try #require(plain.firstMatch(of: try Regex("\"\(member)\":[0-9]")))
        for number in ["-9223372036854775808", "-2147483649", "2147483648", "9223372036854775807"] {
            let text = plain.replacing(given.0, with: "\"\(member)\":\(number)")
            #expect(throws: DecodingError.self) { try Self.trigger(text) }
        }
        for number in ["-2147483648", "-1", "0", "8", "2147483647"] {
            _ = try Self.trigger(plain.replacing(given.0, with: "\"\(member)\":\(number)"))
        }
    }

    private static func trigger(_ text: String) throws -> NotificationTrigger {
        try JSONDecoder().decode(NotificationTrigger.self, from: Data(text.utf8))
    }
}
