import AgentProtocol
import AppHost
import CoreLocation
import Foundation
import Testing

@testable import UserNotifications

/// Everything that Apple lets apps archive comes back equal.
struct ArchiveTests {
    private static var content: UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.body = NSString.localizedUserNotificationString(forKey: "BUY %@", arguments: [2])
        content.badge = 3
        content.sound = .criticalSoundNamed(UNNotificationSoundName("bell.wav"), withAudioVolume: 0.5)
        content.userInfo = ["when": Date(timeIntervalSince1970: 5), "raw": Data([1, 2]), "n": 7]
        content.interruptionLevel = .timeSensitive
        return content
    }
    private static var region: CLCircularRegion {
        let region = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 52, longitude: 13), radius: 200, identifier: "office")
        region.notifyOnExit = false
        return region
    }
    private static let delivered = DeliveredNotification(
        id: 42, identifier: "chat-7", apnsID: "4d1c", topic: "t", date: 1_500, payload: #"{"aps":{"alert":"Hi"}}"#)
    private static let action = UNTextInputNotificationAction(
        identifier: "a", title: "A", options: .foreground, icon: UNNotificationActionIcon(templateImageName: "i"),
        textInputButtonTitle: "b", textInputPlaceholder: "p")
    private static var objects: [any NSObject & NSSecureCoding & NSCopying] {
        [
            content,
            UNNotificationContent(),
            UNNotificationRequest(identifier: "r", content: content, trigger: nil),
            UNNotificationRequest(identifier: "r", content: content, trigger: UNPushNotificationTrigger()),
            UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true),
            UNCalendarNotificationTrigger(
                dateMatching: DateComponents(timeZone: TimeZone(identifier: "Asia/Kathmandu"), hour: 9), repeats: true),
            UNCalendarNotificationTrigger(
                dateMatching: DateComponents(
                    calendar: Calendar(identifier: .buddhist), timeZone: .autoupdatingCurrent, month: 2, weekday: 3),
                repeats: false),
            UNLocationNotificationTrigger(region: region, repeats: false),
            UNNotification(delivered),
            UNNotificationResponse.made(
                of: DeliveredResponse(id: 1, notification: delivered, action: "x", userText: "yes")),
            action, action.icon ?? UNNotificationActionIcon(systemImageName: ""),
            UNNotificationCategory(
                identifier: "c", actions: [action], intentIdentifiers: ["i"], hiddenPreviewsBodyPlaceholder: "h",
                options: .customDismissAction),
            UNNotificationSound.default,
            UNNotificationSettings.undetermined,
        ]
    }

    @Test(arguments: objects.indices)
    func `an archive gives back an equal object of the same class, and so does a copy`(index: Int) throws {
        let object = Self.objects[index]
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [type(of: object)], from: data) as? NSObject
        #expect(again == object && again?.hash == object.hash)
        #expect(again.map { type(of: $0) == type(of: object) } == true)
        #expect((object.copy() as? NSObject) == object)
    }

    @Test func `of the user info an archive leaves out what no property list holds`() throws {
        let content = UNMutableNotificationContent()
        content.body = "x"
        content.userInfo = ["a": [["b": URL(fileURLWithPath: "/")]], "n": 7]
        let data = try NSKeyedArchiver.archivedData(withRootObject: content, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: UNMutableNotificationContent.self, from: data)
        #expect(again?.body == "x" && again?.userInfo.count == 1 && again?.userInfo["n"] as? Int == 7)
    }

    @Test(arguments: [UNNotification.self, UNNotificationContent.self, UNNotificationSound.self] as [NSObject.Type])
    func `an archive of something else gives nothing`(type: NSObject.Type) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: NSUUID(), requiringSecureCoding: true)
        let coder = try NSKeyedUnarchiver(forReadingFrom: data)
        #expect((type as? any NSCoding.Type)?.init(coder: coder) == nil)
    }

    @Test func `a text input response is one again`() throws {
        let response = UNNotificationResponse.made(
            of: DeliveredResponse(id: 1, notification: Self.delivered, action: "x", userText: "yes"))
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: UNTextInputNotificationResponse.self, from: data)
        #expect(again?.userText == "yes" && again?.notification.aldabaID == 42)
    }
}
