import Foundation
import Testing
import UIKit

@MainActor
struct ShapesTests {
    @Test func `a view is in one other at a time`() {
        let label = UILabel(frame: CGRect(x: 10, y: 20, width: 30, height: 40))
        let first = UIView()
        let second = UIImageView(image: nil)
        first.addSubview(UIView())
        first.addSubview(label)
        #expect(first.subviews.last === label && label.superview === first)
        second.addSubview(label)
        #expect(first.subviews.count == 1 && second.subviews == [label])
        label.removeFromSuperview()
        #expect(second.subviews.isEmpty && label.superview == nil)
    }

    @Test func `centre, bounds and frame of a view agree`() {
        let view = UIView(frame: CGRect(x: 10, y: 20, width: 30, height: 40))
        #expect(view.center == CGPoint(x: 25, y: 40) && view.bounds == CGRect(x: 0, y: 0, width: 30, height: 40))
        view.center.y = 140
        #expect(view.frame == CGRect(x: 10, y: 120, width: 30, height: 40))
        view.bounds = CGRect(x: 0, y: 0, width: 10, height: 20)
        #expect(view.frame == CGRect(x: 20, y: 130, width: 10, height: 20))
    }

    /// With the initializers that Xcode writes, and the one line that Linux wants.
    private final class ListController: UIViewController {
        let list: String
        init(list: String) {
            self.list = list
            super.init(nibName: nil, bundle: nil)
        }
        required init?(coder: NSCoder) { nil }
        required convenience init() { self.init(list: "") }
    }

    @Test func `a view controller is made without a nib, and its view when it is asked for`() {
        let controller = ListController(list: "milk")
        controller.title = "Shopping"
        #expect(controller.list == "milk" && controller.nibName == nil)
        #expect(!controller.isViewLoaded && controller.viewIfLoaded == nil)
        #expect(controller.view != nil && controller.isViewLoaded)
        #expect(controller.navigationItem.title == "Shopping")
        #expect(UIViewController().view.subviews.isEmpty)
    }

    @Test func `a button keeps its titles`() {
        let button = UIButton(type: .system)
        button.setTitle("Buy", for: .normal)
        button.setTitle("Sold out", for: .disabled)
        #expect(button.currentTitle == "Buy" && button.buttonType == .system)
        button.isEnabled = false
        #expect(button.currentTitle == "Sold out" && button.title(for: .selected) == "Buy")
    }

    @Test func `a path of two numbers has a section and a row`() {
        var path = IndexPath(row: 3, section: 1)
        #expect(path.section == 1 && path.row == 3 && path.item == 3 && path == IndexPath(item: 3, section: 1))
        path.row += 1
        #expect(path == [1, 4])
    }

    @Test func `colors are equal by their parts`() {
        #expect(UIColor.red == UIColor(red: 1, green: 0, blue: 0, alpha: 1))
        #expect(UIColor.red != .blue && UIColor.label == .black)
    }
}
