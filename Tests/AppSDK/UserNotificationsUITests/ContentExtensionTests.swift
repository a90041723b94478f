import Foundation
import Testing
import UserNotificationsUI

/// Writes only what must be written.
private final class PlainExtension: UIViewController, UNNotificationContentExtension {
    let label = UILabel()

    func didReceive(_ notification: UNNotification) { label.text = notification.request.content.body }
}

/// Writes everything.
private final class PlayingExtension: UIViewController, UNNotificationContentExtension {
    var isPlaying = false

    func didReceive(_ notification: UNNotification) { extensionContext?.mediaPlayingStarted() }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) { completion(.doNotDismiss) }

    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .overlay }
    var mediaPlayPauseButtonFrame: CGRect { CGRect(x: 0, y: 0, width: 50, height: 50) }
    var mediaPlayPauseButtonTintColor: UIColor { .white }
    func mediaPlay() { isPlaying = true }
    func mediaPause() { isPlaying = false }
}

@MainActor
struct ContentExtensionTests {
    @Test func `what an extension does not write has an answer`() {
        let plain: any UNNotificationContentExtension = PlainExtension()
        #expect(plain.mediaPlayPauseButtonType == .none && plain.mediaPlayPauseButtonFrame == .zero)
        #expect(plain.mediaPlayPauseButtonTintColor == .blue)
        plain.mediaPlay()
        plain.mediaPause()
    }

    @Test func `what an extension writes is called by the name of the protocol`() {
        let own = PlayingExtension()
        let playing: any UNNotificationContentExtension = own
        #expect(playing.mediaPlayPauseButtonType == .overlay && playing.mediaPlayPauseButtonFrame.width == 50)
        #expect(playing.mediaPlayPauseButtonTintColor == .white)
        playing.mediaPlay()
        #expect(own.isPlaying)
        playing.mediaPause()
        #expect(!own.isPlaying)
    }

    @Test func `no extension has a host, and nothing comes of asking one`() {
        #expect(PlainExtension().extensionContext == nil)
        let context = NSExtensionContext()
        context.notificationActions = [UNNotificationAction(identifier: "a", title: "A")]
        #expect(context.notificationActions.isEmpty && context.inputItems.isEmpty)
        context.mediaPlayingStarted()
        context.mediaPlayingPaused()
        context.performNotificationDefaultAction()
        context.dismissNotificationContentExtension()
        var isOpened: Bool?
        context.open(URL(fileURLWithPath: "/")) { isOpened = $0 }
        #expect(isOpened == false)
        #expect(!UNUserNotificationCenter.current().supportsContentExtensions)
    }

    @Test func `raw values are Apple's`() {
        let options: [UNNotificationContentExtensionResponseOption] = [
            .doNotDismiss, .dismiss, .dismissAndForwardAction,
        ]
        let buttons: [UNNotificationContentExtensionMediaPlayPauseButtonType] = [.none, .default, .overlay]
        #expect(options.map(\.rawValue) == [0, 1, 2] && buttons.map(\.rawValue) == [0, 1, 2])
    }
}
