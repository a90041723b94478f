import AgentProtocol
import AppHost
import Foundation
import Synchronization
import UserNotifications

/// A service extension that shows the pictures, sounds and films which a payload names: use it as it is, or subclass
/// it.
///
/// The agent fetches the files, within its rules for addresses, sizes and time; this process uses no network. On a
/// failure the notification is shown with the files that came. The reason is on standard output and in the timeline.
open class RichPushService: UNNotificationServiceExtension {
    private let delivery = Mutex<RichDelivery?>(nil)
    private let fetch: @Sendable (MediaRequest, @escaping @Sendable (MediaAnswer) -> Void) -> Void

    /// Made by the program's host, for one notification.
    public required init() {
        fetch = { request, answer in AppHost.shared.requestMedia(request, answer: answer) }
        super.init()
    }

    /// Creates a service with another fetch function, for tests.
    package init(fetch: @escaping @Sendable (MediaRequest, @escaping @Sendable (MediaAnswer) -> Void) -> Void) {
        self.fetch = fetch
        super.init()
    }

    /// The files to fetch for a notification; unless overridden, the result of ``PayloadMedia/all(in:)``.
    open func media(for request: UNNotificationRequest) -> [PayloadMedia] {
        PayloadMedia.all(in: request.content.userInfo)
    }

    /// Receives the failure of a file; called on any thread, before the notification is returned. Unless overridden, it
    /// prints the failure.
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

/// Makes attachments of answers, and notifies the service of failed ones.
///
/// Sendable is unchecked for its only property, a constant: of the service it calls `mediaFailed` alone, which the
/// documentation of that method lets any thread call.
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
