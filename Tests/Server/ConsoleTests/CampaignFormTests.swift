import PushCore
import PushServer
import Testing
import Texts

@testable import Console

@Suite struct CampaignFormTests {
    private let texts = Catalogue.of(.english)

    private func form(_ fields: String) throws -> CampaignForm { CampaignForm(try FormFields(fields)) }

    private func document(_ fields: String) throws -> JSONValue? {
        var form = try form(fields)
        return form.document(texts) { $0 + ":00Z" }
    }

    @Test func `fields become the document`() throws {
        let document = try document(
            "title=Hello&body=One%0D%0Atwo&audience=weather+%26%26+!muted&rate=5&silent=1&when=now&quietThen=wait")
        #expect(
            document?.json
                == #"{"audience":"weather && !muted","content":{"title":"Hello","body":"One\ntwo","silent":true},"rate":5}"#
        )
    }

    @Test func `a time is an instant, or each recipient's own`() throws {
        #expect(try document("when=at&at=2030-01-01T09:00")?.json == #"{"at":"2030-01-01T09:00:00Z"}"#)
        let local = try document("when=local&at=2030-01-01T09:00&past=skip&gap=end&overlap=first&localZone=skip")
        #expect(
            local?.json
                == #"{"local":{"time":"2030-01-01T09:00:00","past":"skip","gap":"end","overlap":"first","unknownZone":"skip"}}"#
        )
    }

    @Test func `more members are merged`() throws {
        let document = try document("title=A&more=%7B%22content%22%3A%7B%22data%22%3A%7B%22a%22%3A1%7D%7D%7D")
        #expect(document?.json == #"{"content":{"title":"A","data":{"a":1}}}"#)
    }

    @Test(arguments: [
        ("rate=x", "rate"), ("when=at", "at"), ("more=%7B", "more"), ("capMost=x&capHours=1", "capMost"),
    ])
    func `a fault is at its field`(_ fields: String, _ name: String) throws {
        var form = try form(fields)
        #expect(form.document(texts) { $0 } == nil)
        #expect(form.faults.keys.sorted() == [name])
    }

    @Test(arguments: [
        ("/content/title", "title"), ("/rate", "rate"), ("/local/time", "at"), ("/quiet/from", "quietFrom"),
        ("/cap/hours", "capHours"), ("/content/data/x", "more"), ("/experiment", "more"), ("/content", "title"),
    ])
    func `a refusal is at its field`(_ pointer: String, _ name: String) throws {
        var form = try form("title=A")
        let answer = ConsoleAPI.Answer(
            status: .badRequest,
            json: .object([.init("pointer", .string(pointer)), .init("detail", .string("wrong"))]))
        #expect(form.note(answer) == nil)
        #expect(form.faults.keys.sorted() == [name])
        #expect(form.faults[name]?.hasSuffix("wrong") == true)
    }

    @Test func `a refusal without a field is of the form`() throws {
        var form = try form("title=A")
        let answer = ConsoleAPI.Answer(status: .conflict, json: .object([.init("detail", .string("wrong"))]))
        #expect(form.note(answer) == "wrong")
    }

    @Test(arguments: [
        ("character 3: no", "a b", "a ", "b", ""), ("character 4: ends", "a &", "a &", "␣", ""),
        ("character 1: no", "", "", "␣", ""), ("too many", "a", "a", "", ""), ("character 99: no", "a", "a", "␣", ""),
    ])
    func `the fault of an expression is at its character`(
        _ message: String, _ expression: String, _ before: String, _ at: String, _ after: String
    ) {
        let fault = ExpressionFault(message: message, in: expression)
        #expect((fault.before, fault.at, fault.after) == (before, at, after))
    }
}
