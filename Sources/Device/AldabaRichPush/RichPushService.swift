import AgentWire
import AppHost
import Foundation
import Synchronization
import UserNotifications

/// A service extension that shows the pictures, sounds and films which a payload names: use it as it is, or subclass it.
///
/// The agent fetches, within its rules of addresses, sizes and time; this process sends nothing to anybody. Whatever fails,
/// the notification is shown with what there is, and why is said on standard output and in the timeline.
open class RichPushService: UNNotificationServiceExtension {
    private let delivery = Mutex<RichDelivery?>(nil)
    private let fetch: @Sendable (MediaRequest, @escaping @Sendable (MediaAnswer) -> Void) -> Void

    /// Made by the program's host, for one notification.
    public required init() {
        fetch = { request, answer in AppHost.shared.post { $0.requestMedia(request, answer: answer) } }
        super.init()
    }

    /// With another way to fetch, for tests.
    package init(fetch: @escaping @Sendable (MediaRequest, @escaping @Sendable (MediaAnswer) -> Void) -> Void) {
        self.fetch = fetch
        super.init()
    }

    /// What is to be fetched for a notification; unless it is overridden, what ``PayloadMedia/all(in:)`` finds.
    open func media(for request: UNNotificationRequest) -> [PayloadMedia] {
        PayloadMedia.all(in: request.content.userInfo)
    }

    /// A file does not come, and why; called on any thread, before the notification is given back. Unless it is overridden, it is
    /// printed.
    open func mediaFailed(_ media: PayloadMedia, _ failure: MediaFailure) {
        print("aldaba: nothing is attached: \(failure)")
    }

    /// Has the files fetched, and gives the notification back with those that came.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let wanted = media(for: request)
        guard !wanted.isEmpty else { return contentHandler(request.content) }
        let spread = PayloadMedia.spread(in: request.content.userInfo)
        let delivery = RichDelivery(request.content, count: wanted.count, handler: contentHandler)
        self.delivery.withLock { $0 = delivery }
        let failed = FailureReport(service: self)
        for (place, media) in wanted.enumerated() {
            fetch(MediaRequest(url: media.url, typeHint: media.typeHint, spread: spread)) { answer in
                delivery.take(failed.attachment(media, answer), at: place)
            }
        }
    }

    /// Gives the notification back with the files that have come by now.
    open override func serviceExtensionTimeWillExpire() { delivery.withLock { $0 }?.finish() }
}

/// Makes attachments of answers, and tells the service of those that are none.
///
/// Sendable is unchecked for the service, whose `mediaFailed` says that any thread calls it.
private final class FailureReport: @unchecked Sendable {
    private let service: RichPushService

    init(service: RichPushService) { self.service = service }

    func attachment(_ media: PayloadMedia, _ answer: MediaAnswer) -> UNNotificationAttachment? {
        switch answer {
        case .file(let path):
            do {
                return try UNNotificationAttachment(identifier: media.identifier, url: URL(fileURLWithPath: path))
            } catch {
                service.mediaFailed(media, MediaFailure(.notMedia, "\(error)"))
            }
        case .failed(let failure): service.mediaFailed(media, failure)
        }
        return nil
    }
}
