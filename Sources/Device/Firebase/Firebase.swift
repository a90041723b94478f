// `import Firebase` means both modules.
@_exported import FirebaseCore
@_exported import FirebaseMessaging
