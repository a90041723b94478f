import AgentEngine
import AgentProtocol
import PushCore
import Synchronization

/// The files that the agent fetches for service extensions, by the notifications that they are for.
///
/// Guarantees: a file that an extension got is deleted when its notification is stored as it appears, or when no caller
/// waits for it any more. At most ``countLimit`` are requested for one notification.
final class ExtensionMedia: Sendable {
    /// How many files one notification may ask for.
    static let countLimit = 16
    /// How many bytes of reasons the timeline gets.
    private static let noteLimit = 500

    private struct Entry {
        var asked = 0
        var files: [String] = []
        var failures: [String] = []
    }

    private let fetcher: MediaFetcher?
    private let entries = Mutex([NotificationID: Entry]())

    /// - Parameter fetcher: `nil` where nothing is fetched.
    init(_ fetcher: MediaFetcher?) { self.fetcher = fetcher }

    /// An extension has this notification from now on.
    func begin(_ id: NotificationID) { entries.withLock { $0[id] = Entry() } }

    /// Fetches a file for a notification, and sends the answer.
    func fetch(
        _ media: MediaRequest, _ request: Int64, for id: NotificationID?, of app: BundleID, allowsHTTP: Bool,
        to connection: AppConnection
    ) {
        let isTaken = entries.withLock { entries in
            guard let id, let asked = entries[id]?.asked, asked < Self.countLimit else { return false }
            entries[id]?.asked += 1
            return true
        }
        guard isTaken, let id, let fetcher else {
            let failure = MediaFailure(
                .busy, "files are fetched for a notification that waits, and at most \(Self.countLimit) for one")
            return connection.send([.fetched(request: request, .failed(failure))])
        }
        fetcher.begin(media, for: app, allowsHTTP: allowsHTTP) { [self] answer in
            mediaFetched(answer, of: id, fetcher)
            connection.send([.fetched(request: request, answer)])
        }
    }

    private func mediaFetched(_ answer: MediaAnswer, of id: NotificationID, _ fetcher: MediaFetcher) {
        let isOpen = entries.withLock { entries in
            guard entries[id] != nil else { return false }
            switch answer {
            case .file(let path): entries[id]?.files.append(path)
            case .failed(let failure): entries[id]?.failures.append("\(failure)")
            }
            return true
        }
        if !isOpen, case .file(let path) = answer { fetcher.takeBack(path) }
    }

    /// Why files of a notification did not come; `nil` where all did.
    func failures(of id: NotificationID) -> String? {
        let all = entries.withLock { $0[id]?.failures } ?? []
        return all.isEmpty ? nil : String(all.joined(separator: "; ").prefix(Self.noteLimit))
    }

    /// A notification is stored as it appears: the files that it needs were copied.
    func end(_ id: NotificationID) {
        for path in entries.withLock({ $0.removeValue(forKey: id)?.files }) ?? [] { fetcher?.takeBack(path) }
    }
}
