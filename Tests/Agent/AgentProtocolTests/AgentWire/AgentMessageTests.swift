import AgentProtocol
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
        ("{}", "type: missing"),
        (#"{"type":7}"#, "type: not a text"),
        (#"{"type":null}"#, "type: null"),
        (#"{"type":"handled","outcome":"presented","options":1}"#, "notification: missing"),
        (#"{"type":"handled","notification":1,"outcome":"eaten"}"#, "outcome: not one of the allowed values"),
        (#"{"type":"handled","notification":1,"outcome":"presented","options":-1}"#, "a number in it does not fit"),
        (#"{"type":"stateChanged","state":"asleep"}"#, "state: not one of the allowed values"),
        (
            #"{"type":"center","request":1,"command":"setCategories","categories":[{"identifier":"a","actions":[{"identifier":"b"}]}]}"#,
            "categories[0].actions[0].title: missing"
        ),
        (
            #"{"type":"center","request":1,"command":"add","notification":{"identifier":"a","content":{"badge":"1"}}}"#,
            "notification.content.badge: not a number"
        ),
        (
            #"{"type":"center","request":1,"command":"setCategories","categories":{}}"#,
            "categories: not a list"
        ),
        (#"{"type":"getSettings","request":99999999999999999999}"#, "a number in it does not fit"),
        (#"{"type":"getSettings","request":1.5}"#, "a number in it does not fit"),
    ])
    func `a text that is not a message is refused with what is wrong in it`(text: String, reason: String) throws {
        let error = #expect(throws: AgentFrameError.self) { try AppMessage(frame: Array(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "-")")
    }

    @Test(arguments: [
        (
            #"{"type":"center","request":1,"command":"setCategories","categories":[{"identifier":"a"},{"identifier":"b","actions":[{"identifier":"c","title":"C","icon":{"name":"i"},"textInput":{}}]}]}"#,
            AppMessage.center(
                request: 1,
                .setCategories([
                    NotificationCategory(identifier: "a"),
                    NotificationCategory(
                        identifier: "b",
                        actions: [
                            .init(
                                identifier: "c", title: "C", icon: .init(name: "i", isTemplate: false),
                                textInput: .init(buttonTitle: "", placeholder: ""))
                        ]),
                ]))
        ),
        (#"{"type":"requestAuthorization","request":1}"#, .requestAuthorization(request: 1, options: 0)),
        (
            #"{"type":"manage","request":1,"command":"notify","notification":{"identifier":"a","content":{"sound":{},"titleLocalization":{"key":"k"}}}}"#,
            .manage(request: 1, .notify(NotificationRequest(identifier: "a", content: Self.plain), waits: false))
        ),
    ])
    func `members that have their plain value may be left out`(text: String, message: AppMessage) throws {
        #expect(try AppMessage(frame: Array(text.utf8)) == message)
    }

    @Test func `a role is read by its name, and one of a later version is a value`() throws {
        let hello = { (role: String) in
            try AppMessage(frame: Array(#"{"type":"hello","version":1,"app":"a","role":\#(role)}"#.utf8))
        }
        #expect(try hello(#""app""#) == .hello(version: 1, app: "a", secret: nil))
        #expect(try hello(#""butler""#) == .hello(version: 1, app: "a", secret: nil, role: .unknown("butler")))
        let error = #expect(throws: AgentFrameError.self) { try hello("7") }
        #expect(error?.description.contains("role: not a text") == true)
        for role in ConnectionRole.known { #expect(ConnectionRole(name: role.name) == role) }
    }

    private static var plain: NotificationContent {
        var content = NotificationContent()
        content.sound = NotificationSound()
        content.titleLocalization = .init(key: "k")
        return content
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
