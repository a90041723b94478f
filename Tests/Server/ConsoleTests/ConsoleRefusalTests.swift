import PushCore
import PushServer
import Testing
import Texts

@testable import Console

@Suite struct ConsoleRefusalTests {
    @Test(arguments: ConsoleRefusal.allCases)
    func `a refusal of the console is shown in the reader's language`(refusal: ConsoleRefusal) {
        let english = ConsoleRefusal.message(of: refusal.error, .of(.english))
        #expect(english == refusal.error.message && english.hasSuffix("."))
        #expect(ConsoleRefusal.message(of: refusal.error, .of(.spanish)) != english)
        #expect(Catalogue.of(.spanish).texts["refused.\(refusal.rawValue)"] != nil)
    }

    @Test(arguments: [
        ("the content is missing", "falta el contenido"),
        ("id is \"x\"; ten characters A-Z0-9 would be right", "id es \"x\"; deben ser diez caracteres A-Z0-9"),
        ("nobody has translated this", "nobody has translated this"),
    ])
    func `a refusal of the API is shown in the reader's language where it is known`(english: String, spanish: String) {
        let json = JSONValue.object([.init("detail", .string(english))])
        #expect(ConsoleAPI.Answer(status: .badRequest, json: json).message == english)
        #expect(ConsoleAPI.Answer(status: .badRequest, json: json, texts: .of(.spanish)).message == spanish)
    }

    @Test func `a refusal of the API stays as it is`() {
        let error = ControlError.invalid("limit is 1 to 1000")
        #expect(ConsoleRefusal.message(of: error, .of(.spanish)) == "limit is 1 to 1000")
    }
}
