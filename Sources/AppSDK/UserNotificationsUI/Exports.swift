// A content extension is a view controller, and is given notifications.
@_exported import UIKit
