/// The implementation of `firebase_messaging` for Flutter apps on Linux.
library aldaba_firebase_messaging;

export 'src/core.dart' show AldabaFirebaseCore;
export 'src/messaging.dart' show AldabaFirebaseMessaging;
export 'src/remote_message.dart' show remoteMessage;
