import AgentProtocol
import AldabaTestSupport
import Testing

struct ExampleTests {
    @Test func `the page's example is the code that compiles here`() throws {
        let example = try PageExample("AgentDialogue.swift")
        #expect(example.shown == example.compiled)
    }

    @Test func `the example reads messages from pieces that end anywhere`() throws {
        let frame = try AgentFrame.encode(AgentMessage.handledConfirmed(notifications: [7]))
        var decoder = AgentFrameDecoder()
        #expect(try messages(in: Array(frame[..<9]), by: &decoder).isEmpty)
        #expect(try messages(in: Array(frame[9...]), by: &decoder) == [.handledConfirmed(notifications: [7])])
    }

    @Test func `the example's greeting is a hello in this version`() throws {
        var decoder = AgentFrameDecoder()
        decoder.append(try greeting(app: "com.example.todo"))
        let frame = try #require(try decoder.next())
        #expect(
            try AppMessage(frame: frame)
                == .hello(version: AgentFrame.version, app: "com.example.todo", secret: nil))
    }
}
