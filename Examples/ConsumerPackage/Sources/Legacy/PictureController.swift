import CoreLocation
import UIKit
import UserNotifications

/// A view controller as tutorials have it, with the initializers that Xcode writes.
class PictureController: UIViewController {
    private let picture: UIImage
    private let button = UIButton(type: .system)

    init(picture: UIImage) {
        self.picture = picture
        super.init(nibName: nil, bundle: nil)
        navigationItem.title = "Picture"
    }

    required init?(coder: NSCoder) {
        fatalError("init(coder:) has not been implemented")
    }

    // The one line that Linux wants: see Docs/ios-edits.md.
    required convenience init() { fatalError("init() has not been implemented") }

    override func viewDidLayoutSubviews() {
        super.viewDidLayoutSubviews()
        button.center = view.center
    }

    override func didReceiveMemoryWarning() {
        super.didReceiveMemoryWarning()
        if isViewLoaded { button.removeFromSuperview() }
    }

    func attachment() throws -> UNNotificationAttachment? {
        let data = UIImagePNGRepresentation(picture) ?? UIImageJPEGRepresentation(picture, 0.8)
        guard let data = data else { return nil }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".png")
        try data.write(to: file)
        return try UNNotificationAttachment(identifier: "picture", url: file, options: nil)
    }

    @IBAction func tapped(_ sender: UIButton) {
        let home = CLLocationCoordinate2DMake(52.52, 13.405)
        let region = CLCircularRegion(center: home, radius: 100, identifier: "home")
        sender.setTitle(region.identifier, for: .normal)
    }

    func title(at indexPath: IndexPath) -> String { "\(indexPath.section), \(indexPath.row)" }
}

/// A scene's delegate: it compiles, and nothing is connected.
class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let windowScene = scene as? UIWindowScene else { return }
        window = UIWindow(windowScene: windowScene)
        if let url = connectionOptions.urlContexts.first?.url { print("Opened by \(url)") }
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        if userActivity.activityType == NSUserActivityTypeBrowsingWeb { print(userActivity.webpageURL ?? "nowhere") }
    }
}
