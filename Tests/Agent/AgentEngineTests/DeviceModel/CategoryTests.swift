import AgentProtocol
import Testing

@testable import AgentEngine

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

    @Test(arguments: [
        ("accept_decline", ["ab_pb_accept", "ab_pb_decline"]), ("yes_no", ["ab_pb_yes", "ab_pb_no"]),
        ("confirm_cancel", ["ab_pb_confirm", "ab_pb_cancel"]), ("more", ["ab_pb_more"]),
    ])
    func `Braze's categories have their buttons unless the app sets its own`(name: String, buttons: [String]) throws {
        var record = AppNotificationRecord()
        let found = try #require(record.category("ab_cat_\(name)"))
        #expect(found.actions.map(\.identifier) == buttons)
        let foreground = NotificationActionDescription.foreground
        #expect(found.actions.map { $0.options & foreground != 0 } == buttons.indices.map { $0 == 0 })
        record.merge([NotificationCategory(identifier: "ab_cat_\(name)")])
        #expect(record.category("ab_cat_\(name)")?.actions.isEmpty == true)
        #expect(record.category("ab_cat_other") == nil)
    }

    @Test func `beyond 256 those go that were set longest ago`() {
        let kept = standing((0..<256).map { "old \($0)" }, ["new"])
        #expect(kept.count == 256 && kept.first == "old 1" && kept.last == "new")
    }

    private static func categories(_ identifiers: [String], title: String = "") -> [NotificationCategory] {
        identifiers.map {
            NotificationCategory(
                identifier: $0, actions: [NotificationActionDescription(identifier: "a", title: title)])
        }
    }

    @Test func `beyond 256 those of the extension go before the app's own`() {
        var record = AppNotificationRecord()
        record.merge(Self.categories(["own"]))
        for number in 0..<255 {
            #expect(record.merge(Self.categories(["\(number)"]), byExtension: true).isEmpty)
        }
        #expect(record.merge(Self.categories(["255"]), byExtension: true) == ["0"])
        #expect(record.category("own") != nil)
        // What the app sets itself is the app's from then on.
        record.merge(Self.categories(["1"]))
        #expect(record.merge(Self.categories(["256"]), byExtension: true) == ["2"])
        record.merge([])
        #expect(record == AppNotificationRecord())
    }

    @Test func `of several with one identifier in a set the last counts`() {
        var record = AppNotificationRecord()
        record.merge(Self.categories(["a"], title: "first") + Self.categories(["b", "a"], title: "last"))
        #expect(record.categories == Self.categories(["b", "a"], title: "last"))
    }

    @Test func `the log says once that categories were removed`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        func notices(_ names: [String]) -> Int {
            let effects = world.effects {
                $0.handleCenterCommand(
                    .setCategories(Self.categories(names)), request: 1, from: EngineWorld.app, connection: connection,
                    context: $1)
            }
            return effects.count { if case .log(.notice, _, _) = $0 { true } else { false } }
        }
        #expect(notices((0..<256).map { "\($0)" }) == 0)
        #expect(notices(["new"]) == 1)
        #expect(notices(["newer"]) == 0)
    }
}
