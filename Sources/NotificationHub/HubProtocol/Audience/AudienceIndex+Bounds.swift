/// A property of installations by whose values they are found, with a bitmap for each value.
package enum IndexedProperty: String, Hashable, Sendable, CaseIterable {
    /// A tag of an installation or of a template.
    case tag
    /// A language.
    case locale
    /// A country.
    case country
    /// A version of the app.
    case appVersion
    /// A time zone.
    case timeZone

    /// The number of distinct values that all installations of a hub may have of a property that is no tag. Each is looked at
    /// where an expression or a report asks for the property.
    package static let mostValues = 5000
}

extension AudienceIndex {
    /// The number of distinct values of a property. Tags of templates count beside those of installations.
    package func valueCount(of property: IndexedProperty) -> Int {
        switch property {
        case .tag: tags.count + templateTags.count
        case .locale: locales.count
        case .country: countries.count
        case .appVersion: versions.count
        case .timeZone: zones.count
        }
    }

    /// The property of which there would be more distinct values than there may be, if an installation were put in place of
    /// another; `nil` for none. One that brings no more new values than it takes away passes no bound.
    ///
    /// - Parameters:
    ///   - before: The installation as it is in the index; `nil` for one that is not.
    ///   - mostTags: The number of distinct tags that there may be.
    /// - Complexity: O(1) for each value of the two installations.
    package func excess(
        replacing before: AudienceEntry?, with after: AudienceEntry, mostTags: Int
    ) -> (property: IndexedProperty, most: Int)? {
        func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }
        let growth: [(IndexedProperty, Int)] = [
            (
                .tag,
                Self.growth(tags, before: before?.tags.map(\.folded) ?? [], after: after.tags.map(\.folded))
                    + Self.growth(
                        templateTags, before: before?.templateTags.map(\.folded) ?? [],
                        after: after.templateTags.map(\.folded))
            ),
            (.locale, Self.growth(locales, before: list(before?.locale), after: list(after.locale))),
            (.country, Self.growth(countries, before: list(before?.country), after: list(after.country))),
            (.appVersion, Self.growth(versions, before: list(before?.appVersion), after: list(after.appVersion))),
            (.timeZone, Self.growth(zones, before: list(before?.timeZone), after: list(after.timeZone))),
        ]
        for (property, growth) in growth where growth > 0 {
            let most = property == .tag ? mostTags : IndexedProperty.mostValues
            if valueCount(of: property) + growth > most { return (property, most) }
        }
        return nil
    }

    /// The tags that one installation and its templates have, at most.
    private static let mostTagsOfOne = 1000

    /// Whether some installations can be put without a look at their values: no bound is near.
    package func hasRoom(forChanges count: Int, mostTags: Int) -> Bool {
        IndexedProperty.allCases.allSatisfy { property in
            let (growth, most) =
                property == .tag ? (count * Self.mostTagsOfOne, mostTags) : (count, IndexedProperty.mostValues)
            return valueCount(of: property) + growth <= most
        }
    }

    /// The number of values that come into an index, less those that leave it.
    private static func growth(_ index: [String: Bitmap], before: [String], after: [String]) -> Int {
        let kept = Set(after)
        let new = kept.count(where: { index[$0] == nil })
        return new - Set(before).count(where: { !kept.contains($0) && index[$0]?.count == 1 })
    }
}
