/// The state of an app in its life cycle.
enum AppState { active, inactive, background }

/// The way in which a notification is delivered to the app.
enum DeliveryKind {
  /// The app is in front, and says how the notification is shown.
  foreground,

  /// The app has work in the background; the notification is not shown by its answer.
  background,

  /// The app is in front, and the notification has work in the background too.
  foregroundAndBackground,

  /// A call comes in.
  call;

  /// Whether the answer is a result of work in the background.
  bool get isBackground => this == background || this == call;
}

/// The result of work in the background.
enum BackgroundResult { newData, noData, failed }

/// The options of the question for permission; a sum of bits.
abstract final class AuthorizationOption {
  static const int badge = 1;
  static const int sound = 2;
  static const int alert = 4;
  static const int carPlay = 8;
  static const int criticalAlert = 16;
  static const int providesAppNotificationSettings = 32;
  static const int provisional = 64;
  static const int announcement = 128;
  static const int timeSensitive = 256;
}

/// The options of showing a notification; a sum of bits.
abstract final class PresentationOption {
  static const int badge = 1;
  static const int sound = 2;
  static const int alert = 4;
  static const int list = 8;
  static const int banner = 16;

  /// The banner, the list and the sound.
  static const int all = banner | list | sound;
}

/// The options of an action; a sum of bits.
abstract final class ActionOption {
  static const int authenticationRequired = 1;
  static const int destructive = 2;
  static const int foreground = 4;
}

/// The options of a category; a sum of bits.
abstract final class CategoryOption {
  static const int customDismissAction = 1;
  static const int hiddenPreviewsShowTitle = 4;
  static const int hiddenPreviewsShowSubtitle = 8;
}

/// The actions that every notification has.
abstract final class StandardAction {
  /// The identifier of opening the notification itself.
  static const String open = 'com.apple.UNNotificationDefaultActionIdentifier';

  /// The identifier of dismissing the notification.
  static const String dismiss = 'com.apple.UNNotificationDismissActionIdentifier';
}

/// Returns the value of an enumeration by its name; null where there is none.
T? valueNamed<T extends Enum>(List<T> values, Object? name) {
  for (final value in values) {
    if (value.name == name) return value;
  }
  return null;
}
