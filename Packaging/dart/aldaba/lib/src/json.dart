import 'errors.dart';

/// A JSON object.
typedef JsonObject = Map<String, Object?>;

/// Returns the object without its members that are null.
JsonObject withoutNulls(JsonObject object) {
  return <String, Object?>{
    for (final entry in object.entries)
      if (entry.value != null) entry.key: entry.value,
  };
}

/// Returns a member of a message. Throws an error of the code `malformed` where it has another type.
T member<T>(JsonObject message, String name) {
  final value = message[name];
  if (value is T) return value;
  throw malformed('"${message['type'] ?? 'a value'}" in which `$name` is missing or of another type');
}

/// Returns a list of a message. Throws an error of the code `malformed` where one of its elements has another type.
List<T> members<T>(JsonObject message, String name) {
  final list = member<List<Object?>>(message, name);
  for (final element in list) {
    if (element is! T) throw malformed('"${message['type'] ?? 'a value'}" with a wrong element in `$name`');
  }
  return list.cast<T>().toList();
}

/// Returns a list of a value, each element read by a function; null where the value has none.
List<T>? optionalList<T>(JsonObject value, String name, T Function(JsonObject) read) {
  if (value[name] == null) return null;
  return <T>[for (final element in members<JsonObject>(value, name)) read(element)];
}

/// Returns an object of a value, read by a function; null where the value has none.
T? optionalObject<T>(JsonObject value, String name, T Function(JsonObject) read) {
  final found = member<JsonObject?>(value, name);
  return found == null ? null : read(found);
}
