import Foundation

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

/// Swift 4's name of ``UIApplication/backgroundFetchIntervalMinimum``.
@available(*, deprecated, renamed: "UIApplication.backgroundFetchIntervalMinimum")
public let UIApplicationBackgroundFetchIntervalMinimum = UIApplication.backgroundFetchIntervalMinimum

/// Swift 4's name of ``UIImage/pngData()``.
@available(*, deprecated, message: "use pngData()")
public func UIImagePNGRepresentation(_ image: UIImage) -> Data? { image.pngData() }

/// Swift 4's name of ``UIImage/jpegData(compressionQuality:)``.
@available(*, deprecated, message: "use jpegData(compressionQuality:)")
public func UIImageJPEGRepresentation(_ image: UIImage, _ compressionQuality: CGFloat) -> Data? {
    image.jpegData(compressionQuality: compressionQuality)
}

extension NSNotification.Name {
    /// Swift 4's name of ``UIApplication/didFinishLaunchingNotification``.
    @available(*, deprecated, renamed: "UIApplication.didFinishLaunchingNotification")
    public static let UIApplicationDidFinishLaunching = UIApplication.didFinishLaunchingNotification
    /// Swift 4's name of ``UIApplication/didBecomeActiveNotification``.
    @available(*, deprecated, renamed: "UIApplication.didBecomeActiveNotification")
    public static let UIApplicationDidBecomeActive = UIApplication.didBecomeActiveNotification
    /// Swift 4's name of ``UIApplication/willResignActiveNotification``.
    @available(*, deprecated, renamed: "UIApplication.willResignActiveNotification")
    public static let UIApplicationWillResignActive = UIApplication.willResignActiveNotification
    /// Swift 4's name of ``UIApplication/didEnterBackgroundNotification``.
    @available(*, deprecated, renamed: "UIApplication.didEnterBackgroundNotification")
    public static let UIApplicationDidEnterBackground = UIApplication.didEnterBackgroundNotification
    /// Swift 4's name of ``UIApplication/willEnterForegroundNotification``.
    @available(*, deprecated, renamed: "UIApplication.willEnterForegroundNotification")
    public static let UIApplicationWillEnterForeground = UIApplication.willEnterForegroundNotification
    /// Swift 4's name of ``UIApplication/willTerminateNotification``.
    @available(*, deprecated, renamed: "UIApplication.willTerminateNotification")
    public static let UIApplicationWillTerminate = UIApplication.willTerminateNotification
}
