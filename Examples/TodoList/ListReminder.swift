import Course
import UserNotifications

/// Reminds of the list at a time of day that the person picks, whether this app runs then or not.
@MainActor
enum ListReminder {
    nonisolated static let category = "reminder of the list"

    /// Sets the reminder, in place of an earlier one; what is to be told, in a sentence.
    static func set(_ time: TimeOfDay) async -> String {
        let content = UNMutableNotificationContent()
        content.title = "Time for your list"
        content.body = "You wanted to be reminded at \(time)."
        content.sound = .default
        content.categoryIdentifier = category
        let trigger = Triggers.at(time)
        do {
            try await UNUserNotificationCenter.current().add(
                UNNotificationRequest(identifier: category, content: content, trigger: trigger))
        } catch {
            return "There is no reminder: \(error.localizedDescription)"
        }
        Terminal.say("reminder at \(trigger.nextTriggerDate().map(String.init(describing:)) ?? "no time")")
        return "You will be reminded at \(time)"
    }
}
