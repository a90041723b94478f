// Names of Swift 3 and 4 that notification code still has.

/// Swift 4's name of ``UIApplication/LaunchOptionsKey``.
@available(*, deprecated, renamed: "UIApplication.LaunchOptionsKey")
public typealias UIApplicationLaunchOptionsKey = UIApplication.LaunchOptionsKey

/// Swift 4's name of ``UIApplication/State``.
@available(*, deprecated, renamed: "UIApplication.State")
public typealias UIApplicationState = UIApplication.State

/// Swift 4's name of ``UIApplication/OpenURLOptionsKey``.
@available(*, deprecated, renamed: "UIApplication.OpenURLOptionsKey")
public typealias UIApplicationOpenURLOptionsKey = UIApplication.OpenURLOptionsKey

/// Swift 4's name of ``UIApplication/openSettingsURLString``.
@available(*, deprecated, renamed: "UIApplication.openSettingsURLString")
public let UIApplicationOpenSettingsURLString = UIApplication.openSettingsURLString

/// Swift 4's name of ``UIBackgroundTaskIdentifier/invalid``.
@available(*, deprecated, renamed: "UIBackgroundTaskIdentifier.invalid")
public let UIBackgroundTaskInvalid = UIBackgroundTaskIdentifier.invalid

/// Swift 4's name of ``UIAlertController/Style``.
@available(*, deprecated, renamed: "UIAlertController.Style")
public typealias UIAlertControllerStyle = UIAlertController.Style

/// Swift 4's name of ``UIAlertAction/Style``.
@available(*, deprecated, renamed: "UIAlertAction.Style")
public typealias UIAlertActionStyle = UIAlertAction.Style
