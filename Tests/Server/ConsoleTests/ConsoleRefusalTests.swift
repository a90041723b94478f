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

    @Test func `a refusal of the API stays as it is`() {
        let error = ControlError.invalid("limit is 1 to 1000")
        #expect(ConsoleRefusal.message(of: error, .of(.spanish)) == "limit is 1 to 1000")
    }
}
