/// The options for which an app requests authorization: Apple's `UNAuthorizationOptions`.
public enum AuthorizationOption {
    /// Permission to put a number on the app's icon.
    public static let badge: UInt = 1 << 0
    /// Permission to play sounds.
    public static let sound: UInt = 1 << 1
    /// Permission to show notifications.
    public static let alert: UInt = 1 << 2
    /// Permission to show them in a car.
    public static let carPlay: UInt = 1 << 3
    /// Permission to disturb in every case.
    public static let criticalAlert: UInt = 1 << 4
    /// Permission to offer settings of its own.
    public static let providesAppNotificationSettings: UInt = 1 << 5
    /// Permission to notify quietly, without asking the person first.
    public static let provisional: UInt = 1 << 6
    /// Permission to have notifications read aloud.
    public static let announcement: UInt = 1 << 7
    /// Permission to break through a Focus.
    public static let timeSensitive: UInt = 1 << 8
}

/// The options by which an app in front chooses how a notification is shown: Apple's
/// `UNNotificationPresentationOptions`.
public enum PresentationOption {
    /// Sets the number on the app's icon.
    public static let badge: UInt = 1 << 0
    /// Plays the sound.
    public static let sound: UInt = 1 << 1
    /// On the screen and in the list.
    public static let alert: UInt = 1 << 2
    /// In the list.
    public static let list: UInt = 1 << 3
    /// On the screen.
    public static let banner: UInt = 1 << 4
}
