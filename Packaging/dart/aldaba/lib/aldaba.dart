/// Push and local notifications for Dart programs on Linux, by Aldaba's agent.
library aldaba;

export 'src/calls.dart' show AgentCalls;
export 'src/client.dart' show NotificationClient;
export 'src/content.dart';
export 'src/errors.dart' show AldabaError;
export 'src/events.dart';
export 'src/handlers.dart' show AgentHandlers, Outcome;
export 'src/json.dart' show JsonObject;
export 'src/notification.dart';
export 'src/options.dart' hide valueNamed;
export 'src/protocol.dart' show AgentProtocol, ClientRole;
export 'src/requests.dart';
