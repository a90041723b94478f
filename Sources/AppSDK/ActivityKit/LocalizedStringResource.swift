import Foundation

/// A text that is looked up when it is shown, which Foundation does not have on Linux.
///
/// The string tables of the app's main bundle may have the text of a literal. One with interpolations is taken as it is.
public struct LocalizedStringResource: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text by which the string tables are searched.
    public let key: String
    private let isComplete: Bool

    /// Makes a resource of a key, which is also the text where no table has it.
    public init(stringLiteral value: String) {
        key = value
        isComplete = false
    }

    /// Makes a resource of a text with interpolations.
    public init(stringInterpolation: DefaultStringInterpolation) {
        key = String(stringInterpolation: stringInterpolation)
        isComplete = true
    }

    fileprivate var text: String {
        isComplete ? key : Bundle.main.localizedString(forKey: key, value: key, table: nil)
    }
}

extension String {
    /// The text of a resource, in the language of this moment.
    public init(localized resource: LocalizedStringResource) { self = resource.text }
}
