import PushCore
import Testing

@Suite struct TopicTests {
    @Test(arguments: [
        ("aldaba", true), ("aldaba.relay", true), ("aldaba.receipts", true), ("aldaba.", true), ("ALDABA.Relay", true),
        ("web-push", true), ("Web-Push", true), ("web-push.example", false),
        ("aldabaran", false), ("aldaba-todo", false), ("com.aldaba", false), ("com.aldaba.relay", false),
    ])
    func `names that begin with the project's own are no app's`(name: String, isReserved: Bool) {
        #expect(Topic.isReserved(name) == isReserved)
    }
}
