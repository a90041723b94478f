import AldabaTestSupport
import RelayProtocol
import Testing

struct ShownSecretsTests {
    @Test(arguments: [RelayManagement.join(key: "key-of-account"), .pair(word: "key-of-account")])
    func `what lets a device into an account is not shown`(management: RelayManagement) throws {
        let request = RelayRequest.manage(request: 7, management)
        for text in [shown(management), shown(request)] {
            #expect(text.contains("<redacted>") && !text.contains("key-of-account"))
        }
        // What is sent has it.
        #expect(try RelayRequest(request.encoded()) == request)
    }

    @Test func `what carries no secret is shown as it is`() {
        #expect("\(RelayManagement.status)" == "status")
        #expect("\(RelayManagement.pair(word: nil))" == "pair")
        #expect("\(RelayManagement.scheme("todo", allowed: true))" == #"scheme(scheme: "todo", allowed: true)"#)
    }
}
