import Foundation

/// A color by its parts, each `0 ... 1`. Nothing is painted with it.
public final class UIColor: NSObject, Sendable {
    private let parts: [CGFloat]

    /// A color by its parts.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) { parts = [red, green, blue, alpha] }

    /// White.
    public static let white = UIColor(red: 1, green: 1, blue: 1, alpha: 1)
    /// Black.
    public static let black = UIColor(red: 0, green: 0, blue: 0, alpha: 1)
    /// The middle between black and white.
    public static let gray = UIColor(red: 0.5, green: 0.5, blue: 0.5, alpha: 1)
    /// Red.
    public static let red = UIColor(red: 1, green: 0, blue: 0, alpha: 1)
    /// Green.
    public static let green = UIColor(red: 0, green: 1, blue: 0, alpha: 1)
    /// Blue.
    public static let blue = UIColor(red: 0, green: 0, blue: 1, alpha: 1)
    /// Black that lets everything through.
    public static let clear = UIColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// The background color of windows; white.
    public static let systemBackground = UIColor.white
    /// The color of texts; black.
    public static let label = UIColor.black

    /// Whether the other has the same parts.
    public override func isEqual(_ object: Any?) -> Bool { (object as? UIColor)?.parts == parts }
    /// The same for equal colors.
    public override var hash: Int { parts.hashValue }
}
