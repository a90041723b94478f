import Foundation

// UIKit's additions to Foundation's index paths: the names of the two numbers of a list's row.
extension IndexPath {
    /// A row of a list's section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// An item of a collection's section.
    public init(item: Int, section: Int) { self = [section, item] }

    /// The first number. Needs a path of two numbers, as Apple's.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second number. Needs a path of two numbers, as Apple's.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The second number. Needs a path of two numbers, as Apple's.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
