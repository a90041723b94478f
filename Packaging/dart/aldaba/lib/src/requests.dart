import 'content.dart';
import 'errors.dart';
import 'json.dart';

/// The event that makes a notification appear.
abstract class NotificationTrigger {
  const NotificationTrigger({this.repeats = false});

  /// Returns the trigger of the agent's JSON.
  factory NotificationTrigger.fromJson(JsonObject json) {
    final repeats = member<bool?>(json, 'repeats') ?? false;
    switch (json['type']) {
      case 'timeInterval':
        return TimeIntervalTrigger(member<num>(json, 'seconds'), repeats: repeats);
      case 'calendar':
        return CalendarTrigger(member<JsonObject>(json, 'components'), repeats: repeats);
      case 'region':
        return RegionTrigger(Region.fromJson(member<JsonObject>(json, 'region')), repeats: repeats);
      default:
        throw malformed('a trigger of an unknown type: ${json['type']}');
    }
  }

  /// Whether it fires again and again.
  final bool repeats;

  JsonObject toJson();
}

/// Fires so many seconds after it was asked for.
class TimeIntervalTrigger extends NotificationTrigger {
  TimeIntervalTrigger(this.seconds, {super.repeats}) {
    if (seconds.isNaN || seconds.isInfinite || seconds <= 0) {
      throw invalid('TimeIntervalTrigger: the seconds must be a number greater than 0, not $seconds');
    }
  }

  final num seconds;

  @override
  JsonObject toJson() => <String, Object?>{'type': 'timeInterval', 'seconds': seconds, 'repeats': repeats};
}

/// Fires when fields of the calendar match, such as `{'hour': 9}`.
class CalendarTrigger extends NotificationTrigger {
  const CalendarTrigger(this.components, {super.repeats});

  /// Fires once at a date in local time, to the second.
  factory CalendarTrigger.at(DateTime date) {
    final local = date.toLocal();
    return CalendarTrigger(<String, Object?>{
      'year': local.year,
      'month': local.month,
      'day': local.day,
      'hour': local.hour,
      'minute': local.minute,
      'second': local.second,
    });
  }

  /// The fields, named as those of `DateComponents`.
  final JsonObject components;

  @override
  JsonObject toJson() => <String, Object?>{'type': 'calendar', 'components': components, 'repeats': repeats};
}

/// Fires when a circle on the earth is entered or left.
class RegionTrigger extends NotificationTrigger {
  const RegionTrigger(this.region, {super.repeats});

  final Region region;

  @override
  JsonObject toJson() => <String, Object?>{'type': 'region', 'region': region, 'repeats': repeats};
}

/// A circle on the earth.
class Region {
  const Region({
    required this.identifier,
    required this.latitude,
    required this.longitude,
    required this.radius,
    this.onEntry = true,
    this.onExit = false,
  });

  factory Region.fromJson(JsonObject json) {
    return Region(
      identifier: member<String>(json, 'identifier'),
      latitude: member<num>(json, 'latitude'),
      longitude: member<num>(json, 'longitude'),
      radius: member<num>(json, 'radius'),
      onEntry: member<bool?>(json, 'onEntry') ?? true,
      onExit: member<bool?>(json, 'onExit') ?? false,
    );
  }

  final String identifier;

  /// The degrees north of the equator.
  final num latitude;

  /// The degrees east of Greenwich.
  final num longitude;

  /// The metres from the centre to the edge.
  final num radius;
  final bool onEntry;
  final bool onExit;

  JsonObject toJson() {
    return <String, Object?>{
      'identifier': identifier,
      'latitude': latitude,
      'longitude': longitude,
      'radius': radius,
      'onEntry': onEntry,
      'onExit': onExit,
    };
  }
}

/// A notification to show. A later one with the same identifier replaces it.
class NotificationRequest {
  NotificationRequest(this.identifier, this.content, {this.trigger}) {
    if (identifier.isEmpty) throw invalid('NotificationRequest: the identifier must not be empty');
  }

  factory NotificationRequest.fromJson(JsonObject json) {
    return NotificationRequest(
      member<String>(json, 'identifier'),
      NotificationContent.fromJson(member<JsonObject>(json, 'content')),
      trigger: optionalObject(json, 'trigger', NotificationTrigger.fromJson),
    );
  }

  final String identifier;
  final NotificationContent content;

  /// The event that makes it appear; without one it appears at once.
  final NotificationTrigger? trigger;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{'identifier': identifier, 'content': content, 'trigger': trigger});
  }
}

/// The actions and options that notifications name by their category.
class NotificationCategory {
  const NotificationCategory(
    this.identifier, {
    this.actions,
    this.intentIdentifiers,
    this.options,
    this.hiddenPreviewsBodyPlaceholder,
    this.categorySummaryFormat,
  });

  factory NotificationCategory.fromJson(JsonObject json) {
    return NotificationCategory(
      member<String>(json, 'identifier'),
      actions: optionalList(json, 'actions', NotificationAction.fromJson),
      intentIdentifiers: json['intentIdentifiers'] == null ? null : members<String>(json, 'intentIdentifiers'),
      options: member<int?>(json, 'options'),
      hiddenPreviewsBodyPlaceholder: member<String?>(json, 'hiddenPreviewsBodyPlaceholder'),
      categorySummaryFormat: member<String?>(json, 'categorySummaryFormat'),
    );
  }

  final String identifier;
  final List<NotificationAction>? actions;
  final List<String>? intentIdentifiers;

  /// A sum of the bits of `CategoryOption`.
  final int? options;
  final String? hiddenPreviewsBodyPlaceholder;
  final String? categorySummaryFormat;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'identifier': identifier,
      'actions': actions,
      'intentIdentifiers': intentIdentifiers,
      'options': options,
      'hiddenPreviewsBodyPlaceholder': hiddenPreviewsBodyPlaceholder,
      'categorySummaryFormat': categorySummaryFormat,
    });
  }
}
