import 'package:aldaba/aldaba.dart' show JsonObject;
import 'package:firebase_messaging_platform_interface/firebase_messaging_platform_interface.dart';

/// Returns the agent's settings of the app, as `firebase_messaging` has them.
NotificationSettings notificationSettings(JsonObject settings) {
  return NotificationSettings(
    alert: _setting(settings['alertSetting']),
    announcement: AppleNotificationSetting.notSupported,
    authorizationStatus: _status(settings['authorizationStatus']),
    badge: _setting(settings['badgeSetting']),
    carPlay: AppleNotificationSetting.notSupported,
    criticalAlert: _setting(settings['criticalAlertSetting']),
    lockScreen: _setting(settings['lockScreenSetting']),
    notificationCenter: _setting(settings['notificationCenterSetting']),
    providesAppNotificationSettings: settings['providesAppNotificationSettings'] == true
        ? AppleNotificationSetting.enabled
        : AppleNotificationSetting.disabled,
    showPreviews: _previews(settings['showPreviewsSetting']),
    sound: _setting(settings['soundSetting']),
    timeSensitive: _setting(settings['timeSensitiveSetting']),
  );
}

AppleNotificationSetting _setting(Object? value) {
  switch (value) {
    case 1:
      return AppleNotificationSetting.disabled;
    case 2:
      return AppleNotificationSetting.enabled;
    default:
      return AppleNotificationSetting.notSupported;
  }
}

AuthorizationStatus _status(Object? value) {
  switch (value) {
    case 1:
      return AuthorizationStatus.denied;
    case 2:
    case 4:
      return AuthorizationStatus.authorized;
    case 3:
      return AuthorizationStatus.provisional;
    default:
      return AuthorizationStatus.notDetermined;
  }
}

AppleShowPreviewSetting _previews(Object? value) {
  switch (value) {
    case 0:
      return AppleShowPreviewSetting.always;
    case 1:
      return AppleShowPreviewSetting.whenAuthenticated;
    case 2:
      return AppleShowPreviewSetting.never;
    default:
      return AppleShowPreviewSetting.notSupported;
  }
}
