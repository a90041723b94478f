import AppHost
import Foundation

/// Takes an app's notifications and the person's answers to them.
///
/// All methods are optional, and of the two forms of a method an app writes one. They are called on the main
/// actor, in the order of the notifications; the form with `async` is awaited there.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// How to present a notification while the app is in front. Not answered within 30 seconds means not at all.
    @preconcurrency @MainActor func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)

    /// How to present a notification while the app is in front.
    @MainActor func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions

    /// The person's answer to a notification. The completion handler must be called within 30 seconds.
    @preconcurrency @MainActor func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)

    /// The person's answer to a notification.
    @MainActor func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async

    /// The person wants to see the app's own notification settings, coming from this notification, if any.
    @preconcurrency @MainActor func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

// The form with a handler is called. Its default calls the `async` form, in a task that begins at once, so that
// asynchronous methods too begin in the order of their notifications. A call that reaches the last default is known to
// be unanswered: the app wrote neither form.
extension UNUserNotificationCenterDelegate {
    /// Asks the other form.
    @preconcurrency @MainActor public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        Task.immediate {
            completionHandler(await self.userNotificationCenter(center, willPresent: notification))
        }
    }

    /// Presents nothing.
    @MainActor public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        OptionalCall.noteDefault()
        return []
    }

    /// Calls the form with a completion handler.
    @preconcurrency @MainActor public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        Task.immediate {
            await self.userNotificationCenter(center, didReceive: response)
            completionHandler()
        }
    }

    /// Does nothing.
    @MainActor public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        OptionalCall.noteDefault()
    }

    /// Does nothing.
    @preconcurrency @MainActor public func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {}
}
