import UIKit

/// Updates what the app shows when a provider says that there is news (`content-available`), once for each piece of news.
///
/// A notification that also shows text comes a second time when the person opens it, where no delegate of the center takes
/// the answer. The news has been fetched by then; its name, which the provider gives, tells that.
@MainActor
public final class BackgroundUpdate {
    private var known: [String] = []
    private let limit: Int
    private let fetch: (String) async throws -> Bool

    /// - Parameters:
    ///   - limit: How many names are kept; at least one.
    ///   - fetch: Fetches the news of that name; whether there was any.
    public init(limit: Int = 100, fetch: @escaping (String) async throws -> Bool) {
        self.limit = max(1, limit)
        self.fetch = fetch
    }

    /// What `application(_:didReceiveRemoteNotification:)` answers.
    public func update(_ userInfo: [AnyHashable: Any]) async -> UIBackgroundFetchResult {
        guard let name = userInfo["news"] as? String, !known.contains(name) else { return .noData }
        // Known from now on: the tap may come while this is fetched.
        known = known.suffix(limit - 1) + [name]
        do {
            return try await fetch(name) ? .newData : .noData
        } catch {
            // It may be tried again.
            known.removeAll { $0 == name }
            return .failed
        }
    }
}
