import AgentEngine
import AgentProtocol
import Testing

/// Categories that app and extension set one after the other.
struct CategoryTests {
    private func standing(_ sets: [String]...) -> [String] {
        var standing = AppNotificationRecord()
        for names in sets { standing.merge(names.map { NotificationCategory(identifier: $0, actions: []) }) }
        return standing.categories.map(\.identifier)
    }

    @Test func `they are taken in addition, in place of those of the same name, and none take all away`() {
        #expect(standing(["a", "b"], ["c", "a"]) == ["b", "c", "a"])
        #expect(standing(["a", "b"], []) == [])
    }

    @Test func `beyond 256 those go that were set longest ago`() {
        let kept = standing((0..<256).map { "old \($0)" }, ["new"])
        #expect(kept.count == 256 && kept.first == "old 1" && kept.last == "new")
    }
}
