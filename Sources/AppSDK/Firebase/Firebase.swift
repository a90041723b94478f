// `import Firebase` means these modules.
@_exported import FirebaseCore
@_exported import FirebaseInstanceID
@_exported import FirebaseMessaging
