import PushServer

extension Navigation {
    /// The pages that a visitor may open.
    static func pages(for visitor: Visitor) -> [(section: String, path: String)] {
        if visitor.isOpen { return pages }
        guard visitor.person != nil else { return [] }
        return (pages + [("accounts", "accounts"), ("sessions", "sessions")]).filter { page in
            ConsolePermissions.rule("GET \(page.path)")?.admits(visitor.membership) { _ in nil } ?? false
        }
    }
}
