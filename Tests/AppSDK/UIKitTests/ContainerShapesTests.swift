import Foundation
import Testing
import UIKit

/// Shapes that hold others: they keep what they are given.
@MainActor
struct ContainerShapesTests {
    @Test func `a navigation controller is a stack, and its controllers find it`() {
        let root = UIViewController()
        let detail = UIViewController()
        let navigation = UINavigationController(rootViewController: root)
        let tabs = UITabBarController()
        tabs.viewControllers = [navigation]
        navigation.pushViewController(detail, animated: true)
        #expect(navigation.topViewController === detail && detail.navigationController === navigation)
        #expect(detail.tabBarController === tabs && navigation.navigationController == nil)
        #expect(tabs.selectedViewController === navigation)
        #expect(navigation.popViewController(animated: false) === detail && detail.navigationController == nil)
        #expect(navigation.popViewController(animated: false) == nil && navigation.viewControllers == [root])
        navigation.setViewControllers([root, detail], animated: false)
        #expect(navigation.popToRootViewController(animated: false) == [detail])
        root.present(detail, animated: false)
        #expect(navigation.visibleViewController === detail)
        tabs.setViewControllers(nil, animated: false)
        #expect(root.tabBarController == nil && tabs.selectedViewController == nil)
    }

    @Test func `a row of views keeps their order`() {
        let (first, second, third) = (UIView(), UITextField(), UITextView())
        let row = UIStackView(arrangedSubviews: [first, second])
        row.insertArrangedSubview(third, at: 0)
        #expect(row.arrangedSubviews == [third, first, second] && row.subviews == [first, second, third])
        row.addArrangedSubview(third)
        #expect(row.arrangedSubviews == [first, second, third] && row.subviews.count == 3)
        row.removeArrangedSubview(first)
        #expect(row.arrangedSubviews == [second, third] && first.superview === row)
        second.tag = 7
        second.isHidden = true
        #expect(second.isHidden && !first.isHidden)
        #expect(row.viewWithTag(7) === second && row.viewWithTag(8) == nil)
    }

    @Test func `texts and buttons of a bar are kept`() {
        let view = UITextView()
        view.text = nil
        #expect(view.text == "")
        view.setContentOffset(CGPoint(x: 0, y: 3), animated: true)
        #expect(view.contentOffset.y == 3)
        let controller = UIViewController()
        let button = UIBarButtonItem(title: "Done", style: .done, target: controller, action: Selector("done"))
        controller.navigationItem.rightBarButtonItem = button
        #expect(controller.navigationItem.rightBarButtonItems == [button] && button.target === controller)
        controller.navigationItem.rightBarButtonItem = nil
        #expect(controller.navigationItem.rightBarButtonItems == nil)
        #expect(UIBarButtonItem(barButtonSystemItem: .add, target: nil, action: nil).action == nil)
        #expect(UIBarButtonItem(customView: view).customView === view)
        controller.tabBarItem = UITabBarItem(title: "List", image: nil, tag: 2)
        #expect(controller.tabBarItem?.tag == 2)
        #expect(UINib(nibName: "Cell", bundle: nil).instantiate(withOwner: nil).isEmpty)
    }

    @Test func `commands of the icon are kept`() {
        let item = UIApplicationShortcutItem(
            type: "add", localizedTitle: "Add", localizedSubtitle: nil,
            icon: UIApplicationShortcutIcon(systemImageName: "plus"), userInfo: ["list": "milk" as NSString])
        #expect(item.type == "add" && item.localizedTitle == "Add" && item.icon != nil)
        #expect(UIApplicationShortcutItem(type: "a", localizedTitle: "A").userInfo == nil)
    }
}
