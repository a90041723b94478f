import Testing
import UserNotifications

struct RawValueTests {
    // Those that are deprecated are left to the surface's list.
    private static let options: [(UInt, UInt)] = [
        (UNAuthorizationOptions.badge.rawValue, 1),
        (UNAuthorizationOptions.sound.rawValue, 2),
        (UNAuthorizationOptions.alert.rawValue, 4),
        (UNAuthorizationOptions.carPlay.rawValue, 8),
        (UNAuthorizationOptions.criticalAlert.rawValue, 16),
        (UNAuthorizationOptions.providesAppNotificationSettings.rawValue, 32),
        (UNAuthorizationOptions.provisional.rawValue, 64),
        (UNNotificationPresentationOptions.badge.rawValue, 1),
        (UNNotificationPresentationOptions.sound.rawValue, 2),
        (UNNotificationPresentationOptions.list.rawValue, 8),
        (UNNotificationPresentationOptions.banner.rawValue, 16),
        (UNNotificationActionOptions.authenticationRequired.rawValue, 1),
        (UNNotificationActionOptions.destructive.rawValue, 2),
        (UNNotificationActionOptions.foreground.rawValue, 4),
        (UNNotificationCategoryOptions.customDismissAction.rawValue, 1),
        (UNNotificationCategoryOptions.allowInCarPlay.rawValue, 2),
        (UNNotificationCategoryOptions.hiddenPreviewsShowTitle.rawValue, 4),
        (UNNotificationCategoryOptions.hiddenPreviewsShowSubtitle.rawValue, 8),
        (UNNotificationInterruptionLevel.passive.rawValue, 0),
        (UNNotificationInterruptionLevel.active.rawValue, 1),
        (UNNotificationInterruptionLevel.timeSensitive.rawValue, 2),
        (UNNotificationInterruptionLevel.critical.rawValue, 3),
    ]

    private static let settings: [(Int, Int)] = [
        (UNAuthorizationStatus.notDetermined.rawValue, 0),
        (UNAuthorizationStatus.denied.rawValue, 1),
        (UNAuthorizationStatus.authorized.rawValue, 2),
        (UNAuthorizationStatus.provisional.rawValue, 3),
        (UNAuthorizationStatus.ephemeral.rawValue, 4),
        (UNNotificationSetting.notSupported.rawValue, 0),
        (UNNotificationSetting.disabled.rawValue, 1),
        (UNNotificationSetting.enabled.rawValue, 2),
        (UNAlertStyle.none.rawValue, 0),
        (UNAlertStyle.banner.rawValue, 1),
        (UNAlertStyle.alert.rawValue, 2),
        (UNShowPreviewsSetting.always.rawValue, 0),
        (UNShowPreviewsSetting.whenAuthenticated.rawValue, 1),
        (UNShowPreviewsSetting.never.rawValue, 2),
    ]

    @Test(arguments: options)
    func `options and levels have Apple's numbers`(value: UInt, number: UInt) { #expect(value == number) }

    @Test(arguments: settings)
    func `settings have Apple's numbers`(value: Int, number: Int) { #expect(value == number) }

    @Test func `the two actions that every notification has are named as Apple names them`() {
        #expect(UNNotificationDefaultActionIdentifier == "com.apple.UNNotificationDefaultActionIdentifier")
        #expect(UNNotificationDismissActionIdentifier == "com.apple.UNNotificationDismissActionIdentifier")
    }

    @Test func `sounds are equal when they sound the same, and the settings that cannot be say so`() {
        #expect(UNNotificationSound.default == .default && UNNotificationSound.default != .defaultCritical)
        let name = UNNotificationSoundName("bell.wav")
        #expect(UNNotificationSound(named: name) == .ringtoneSoundNamed(name))
        #expect(.criticalSoundNamed(name) != UNNotificationSound.criticalSoundNamed(name, withAudioVolume: 0.5))
        #expect(
            UNNotificationSound.defaultCriticalSound(withAudioVolume: 7)
                == UNNotificationSound.defaultCriticalSound(withAudioVolume: 1))
        #expect(!UNUserNotificationCenter.current().supportsContentExtensions)
    }
}
