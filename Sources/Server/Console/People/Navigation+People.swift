import PushServer

extension Navigation {
    /// The pages that a user may open.
    static func pages(for user: SignedInUser) -> [(section: String, path: String)] {
        if user.isOpen { return pages }
        guard user.person != nil else { return [] }
        return (pages + [("accounts", "accounts"), ("sessions", "sessions")]).filter { page in
            ConsolePermissions.rule("GET \(page.path)")?.admits(user.membership) { _ in nil } ?? false
        }
    }
}
