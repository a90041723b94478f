import AldabaTestSupport
import Testing

struct ExampleTests {
    @Test func `the page's example is the code that compiles here`() throws {
        let example = try PageExample("SessionDialogue.swift")
        #expect(example.shown == example.compiled)
    }

    @Test func `the example's session asks how to present the notification`() {
        let notification = Conversation.notification(7)
        #expect(directives(delivering: notification).contains(.askPresentation(notification)))
    }
}
