import Foundation
import Testing

@testable import AgentProtocol

struct RequestTextTests {
    private func request(_ notification: String) throws -> NotificationRequest {
        let frame = #"{ "type":"center", "request":1,"notification": \#(notification) ,"command":"add"}"#
        guard case .center(_, .add(let request)) = try AppMessage(frame: Array(frame.utf8)) else {
            throw CocoaError(.coderInvalidValue)
        }
        return request
    }

    @Test(arguments: [
        (#"{"identifier":"a","content":{"title":"x"}}"#, #"{"title":"x"}"#, nil),
        (
            "{ \"trigger\" : {\"type\":\"timeInterval\",\"seconds\":60}\n, \"content\":\t{\"body\": \"}]\\\",{\"} , \"identifier\":\"a\"}",
            "{\"body\": \"}]\\\",{\"}", #"{"type":"timeInterval","seconds":60}"#
        ),
        (#"{"identifier":"a\\","new":[1,[{}]],"content":{},"trigger":null}"#, "{}", "null"),
    ])
    func `a request keeps its text and those of its members`(
        notification: String, content: String, trigger: String?
    ) throws {
        let text = try #require(try request(notification).text)
        #expect(text.whole == notification)
        #expect(text.content == content)
        #expect(text.trigger == trigger)
        #expect(text.count == notification.utf8.count)
        let again = try NotificationRequest(json: Array(text.whole.utf8))
        #expect(again == (try request(notification)))
        #expect(again.text?.content == content)
    }

    /// A decoder takes one of two members, and reads what is escaped; whoever looks for a member might take another.
    @Test(arguments: [
        #"{"identifier":"a","content":{"title":"x"},"content":{"title":"y"}}"#,
        #"{"identifier":"a","content":{"title":"x"},"con\u0074ent":{"title":"y"}}"#,
        #"{"identifier":"a","c\u006fntent":{"title":"x"}}"#,
    ])
    func `a text in which a member may be another keeps none`(notification: String) throws {
        #expect(try request(notification).text == nil)
    }

    @Test func `a request that is changed is not what its text says`() throws {
        let read = try request(#"{"identifier":"a","content":{}}"#)
        var other = read
        other.identifier = "b"
        #expect(other.text == nil)
        other = read
        other.content.title = "x"
        #expect(other.text == nil)
        other = read
        other.trigger = .timeInterval(seconds: 60, repeats: false)
        #expect(other.text == nil)
        #expect(read.text != nil)
    }

    @Test func `its text is no part of a request's value, and tells its size`() throws {
        var content = NotificationContent()
        content.title = "x"
        let made = NotificationRequest(identifier: "a", content: content)
        let read = try request(#"{"identifier":"a","content":{"title":"x"}}"#)
        #expect(made == read && made.hashValue == read.hashValue)
        #expect(try made.size() == read.size())
        #expect(try read.size() == #"{"identifier":"a","content":{"title":"x"}}"#.utf8.count)
    }

    @Test(arguments: ["", "[]", "{", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":[}"#, #"{"a":"b\"#, #"{,}"#, #"{"a" 1}"#])
    func `what is no object has no members`(text: String) {
        #expect(JSONMembers.find(in: Array(text.utf8)[...]) == nil)
    }

    @Test func `a terminal's request keeps its text too`() throws {
        let frame = #"{"type":"manage","request":1,"command":"notify","notification":{"content":{},"identifier":"a"}}"#
        guard case .manage(_, .notify(let request, _)) = try AppMessage(frame: Array(frame.utf8)) else {
            throw CocoaError(.coderInvalidValue)
        }
        #expect(request.text?.whole == #"{"content":{},"identifier":"a"}"#)
    }
}
