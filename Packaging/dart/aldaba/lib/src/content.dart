import 'dart:convert';

import 'json.dart';

/// A key of the app's string tables.
class Localization {
  const Localization(this.key, {this.arguments});

  factory Localization.fromJson(JsonObject json) {
    return Localization(member<String>(json, 'key'),
        arguments: json['arguments'] == null ? null : members<String>(json, 'arguments'));
  }

  final String key;
  final List<String>? arguments;

  JsonObject toJson() => withoutNulls(<String, Object?>{'key': key, 'arguments': arguments});
}

/// A sound of a notification; without a name the default sound.
class NotificationSound {
  const NotificationSound({this.name, this.isCritical, this.volume});

  factory NotificationSound.fromJson(JsonObject json) {
    return NotificationSound(
      name: member<String?>(json, 'name'),
      isCritical: member<bool?>(json, 'isCritical'),
      volume: member<num?>(json, 'volume'),
    );
  }

  final String? name;
  final bool? isCritical;

  /// The volume of a critical sound, from 0 to 1.
  final num? volume;

  JsonObject toJson() => withoutNulls(<String, Object?>{'name': name, 'isCritical': isCritical, 'volume': volume});
}

/// A file of a notification: a picture, a sound or a movie.
class NotificationAttachment {
  const NotificationAttachment({
    required this.identifier,
    required this.path,
    required this.type,
    this.hidesThumbnail,
    this.thumbnailClippingRect,
    this.thumbnailTime,
  });

  factory NotificationAttachment.fromJson(JsonObject json) {
    return NotificationAttachment(
      identifier: member<String>(json, 'identifier'),
      path: member<String>(json, 'path'),
      type: member<String>(json, 'type'),
      hidesThumbnail: member<bool?>(json, 'hidesThumbnail'),
      thumbnailClippingRect:
          json['thumbnailClippingRect'] == null ? null : members<num>(json, 'thumbnailClippingRect'),
      thumbnailTime: member<num?>(json, 'thumbnailTime'),
    );
  }

  final String identifier;

  /// The absolute path of the file.
  final String path;

  /// The uniform type identifier, such as `public.png`.
  final String type;
  final bool? hidesThumbnail;

  /// The horizontal place, the vertical place, the width and the height, each from 0 to 1.
  final List<num>? thumbnailClippingRect;

  /// The place of the thumbnail in a movie, in seconds.
  final num? thumbnailTime;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'identifier': identifier,
      'path': path,
      'type': type,
      'hidesThumbnail': hidesThumbnail,
      'thumbnailClippingRect': thumbnailClippingRect,
      'thumbnailTime': thumbnailTime,
    });
  }
}

/// The icon of an action.
class ActionIcon {
  const ActionIcon(this.name, {this.isTemplate});

  factory ActionIcon.fromJson(JsonObject json) {
    return ActionIcon(member<String>(json, 'name'), isTemplate: member<bool?>(json, 'isTemplate'));
  }

  final String name;
  final bool? isTemplate;

  JsonObject toJson() => withoutNulls(<String, Object?>{'name': name, 'isTemplate': isTemplate});
}

/// The field of an action that asks for a text.
class ActionTextInput {
  const ActionTextInput({this.buttonTitle, this.placeholder});

  factory ActionTextInput.fromJson(JsonObject json) {
    return ActionTextInput(
      buttonTitle: member<String?>(json, 'buttonTitle'),
      placeholder: member<String?>(json, 'placeholder'),
    );
  }

  final String? buttonTitle;
  final String? placeholder;

  JsonObject toJson() => withoutNulls(<String, Object?>{'buttonTitle': buttonTitle, 'placeholder': placeholder});
}

/// A button of a notification.
class NotificationAction {
  const NotificationAction(this.identifier, this.title, {this.options, this.icon, this.textInput});

  factory NotificationAction.fromJson(JsonObject json) {
    return NotificationAction(
      member<String>(json, 'identifier'),
      member<String>(json, 'title'),
      options: member<int?>(json, 'options'),
      icon: optionalObject(json, 'icon', ActionIcon.fromJson),
      textInput: optionalObject(json, 'textInput', ActionTextInput.fromJson),
    );
  }

  final String identifier;
  final String title;

  /// A sum of the bits of `ActionOption`.
  final int? options;
  final ActionIcon? icon;
  final ActionTextInput? textInput;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'identifier': identifier,
      'title': title,
      'options': options,
      'icon': icon,
      'textInput': textInput,
    });
  }
}

/// The content of a notification. Members that are left out are empty.
class NotificationContent {
  NotificationContent({
    this.title,
    this.subtitle,
    this.body,
    this.titleLocalization,
    this.subtitleLocalization,
    this.bodyLocalization,
    this.badge,
    this.sound,
    this.launchImageName,
    Map<String, Object?>? userInfo,
    String? userInfoText,
    this.userInfoPropertyList,
    this.attachments,
    this.categoryIdentifier,
    this.threadIdentifier,
    this.targetContentIdentifier,
    this.interruptionLevel,
    this.relevanceScore,
    this.filterCriteria,
    this.progress,
    this.actions,
    this.openTitle,
  }) : userInfoText = userInfoText ?? (userInfo == null ? null : jsonEncode(userInfo));

  factory NotificationContent.fromJson(JsonObject json) {
    return NotificationContent(
      title: member<String?>(json, 'title'),
      subtitle: member<String?>(json, 'subtitle'),
      body: member<String?>(json, 'body'),
      titleLocalization: optionalObject(json, 'titleLocalization', Localization.fromJson),
      subtitleLocalization: optionalObject(json, 'subtitleLocalization', Localization.fromJson),
      bodyLocalization: optionalObject(json, 'bodyLocalization', Localization.fromJson),
      badge: member<int?>(json, 'badge'),
      sound: optionalObject(json, 'sound', NotificationSound.fromJson),
      launchImageName: member<String?>(json, 'launchImageName'),
      userInfoText: member<String?>(json, 'userInfo'),
      userInfoPropertyList: member<String?>(json, 'userInfoPropertyList'),
      attachments: optionalList(json, 'attachments', NotificationAttachment.fromJson),
      categoryIdentifier: member<String?>(json, 'categoryIdentifier'),
      threadIdentifier: member<String?>(json, 'threadIdentifier'),
      targetContentIdentifier: member<String?>(json, 'targetContentIdentifier'),
      interruptionLevel: member<String?>(json, 'interruptionLevel'),
      relevanceScore: member<num?>(json, 'relevanceScore'),
      filterCriteria: member<String?>(json, 'filterCriteria'),
      progress: member<num?>(json, 'progress'),
      actions: optionalList(json, 'actions', NotificationAction.fromJson),
      openTitle: optionalObject(json, 'openTitle', Localization.fromJson),
    );
  }

  final String? title;
  final String? subtitle;
  final String? body;
  final Localization? titleLocalization;
  final Localization? subtitleLocalization;
  final Localization? bodyLocalization;

  /// The number on the app's icon; 0 removes it.
  final int? badge;
  final NotificationSound? sound;
  final String? launchImageName;

  /// The JSON text of the app's own data.
  final String? userInfoText;
  final String? userInfoPropertyList;
  final List<NotificationAttachment>? attachments;
  final String? categoryIdentifier;
  final String? threadIdentifier;
  final String? targetContentIdentifier;

  /// `passive`, `active`, `time-sensitive` or `critical`.
  final String? interruptionLevel;

  /// The relevance among the app's notifications, from 0 to 1.
  final num? relevanceScore;
  final String? filterCriteria;

  /// From 0 to 1, for desktops that show one.
  final num? progress;

  /// The buttons in place of those of the category.
  final List<NotificationAction>? actions;
  final Localization? openTitle;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'title': title,
      'subtitle': subtitle,
      'body': body,
      'titleLocalization': titleLocalization,
      'subtitleLocalization': subtitleLocalization,
      'bodyLocalization': bodyLocalization,
      'badge': badge,
      'sound': sound,
      'launchImageName': launchImageName,
      'userInfo': userInfoText,
      'userInfoPropertyList': userInfoPropertyList,
      'attachments': attachments,
      'categoryIdentifier': categoryIdentifier,
      'threadIdentifier': threadIdentifier,
      'targetContentIdentifier': targetContentIdentifier,
      'interruptionLevel': interruptionLevel,
      'relevanceScore': relevanceScore,
      'filterCriteria': filterCriteria,
      'progress': progress,
      'actions': actions,
      'openTitle': openTitle,
    });
  }
}
