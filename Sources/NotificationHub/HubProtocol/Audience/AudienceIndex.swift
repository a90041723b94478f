import PushCore

/// The attributes of one installation by which audiences are selected.
package struct AudienceEntry: Hashable, Sendable {
    /// The installation's number, which is never used again.
    package var number: UInt32
    /// The installation's platform.
    package var platform: HubPlatform
    /// The installation's tags.
    package var tags: [TagName]
    /// The tags of its templates, and their names; empty where it has no template.
    package var templateTags: [TagName]
    /// Whether it has templates.
    package var hasTemplates: Bool
    /// The language, in lower case.
    package var locale: String?
    /// The country, in lower case.
    package var country: String?
    /// The version of its app, as it was written.
    package var appVersion: String?
    /// The name of the time zone.
    package var timeZone: String?
    /// The person to whom the installation belongs.
    package var person: PersonNumber
    /// Whether it is a registration: others may have its channel, too.
    package var isRegistration: Bool
    /// When it was last put, changed or seen.
    package var seenAt: Timestamp

    /// Creates an instance from its properties.
    package init(
        number: UInt32, platform: HubPlatform, tags: [TagName], templateTags: [TagName] = [],
        hasTemplates: Bool = false, locale: String? = nil, country: String? = nil, appVersion: String? = nil,
        timeZone: String? = nil, person: PersonNumber = PersonNumber(rawValue: 0), isRegistration: Bool = false,
        seenAt: Timestamp
    ) {
        self.number = number
        self.platform = platform
        self.tags = tags
        self.templateTags = templateTags
        self.hasTemplates = hasTemplates
        self.locale = locale
        self.country = country
        self.appVersion = appVersion
        self.timeZone = timeZone
        self.person = person
        self.isRegistration = isRegistration
        self.seenAt = seenAt
    }
}

/// A hub's installations by what they are addressed by: a bitmap for each tag, platform, language, country and version.
///
/// It is a copy of what the store holds, of those that can be reached, and is kept up with every commit.
package struct AudienceIndex: Sendable {
    private var everyone = Bitmap()
    private(set) var tags: [String: Bitmap] = [:]
    private(set) var templateTags: [String: Bitmap] = [:]
    private var withTemplates = Bitmap()
    /// The installations that are registrations, whose channel others may share.
    package private(set) var registrations = Bitmap()
    private var platforms: [HubPlatform: Bitmap] = [:]
    private(set) var locales: [String: Bitmap] = [:]
    private(set) var countries: [String: Bitmap] = [:]
    private(set) var versions: [String: Bitmap] = [:]
    private(set) var zones: [String: Bitmap] = [:]
    /// The person of each installation, by number; 0 where there is none.
    private var persons = NumberColumn()
    /// Minutes since 1970 by number; 0 where there is none.
    private var seen = NumberColumn()

    /// An index of nothing.
    package init() {}

    /// How many installations there are.
    package var count: Int { everyone.count }

    /// Everyone.
    package var all: Bitmap { everyone }

    /// The installations of a platform.
    package func installations(of platform: HubPlatform) -> Bitmap { platforms[platform] ?? Bitmap() }

    /// The installations with templates.
    package var templated: Bitmap { withTemplates }

    /// About how many bytes the index takes.
    package var memory: Int {
        func memory<Key>(_ sets: [Key: Bitmap]) -> Int { sets.values.reduce(0) { $0 + 64 + $1.memory } }
        return everyone.memory + memory(tags) + memory(templateTags) + withTemplates.memory + registrations.memory
            + memory(platforms)
            + memory(locales) + memory(countries) + memory(versions) + memory(zones)
            + seen.memory + persons.memory
    }

    /// The part of the index that an expression needs, to be evaluated while the index changes. A change then copies
    /// the bitmaps shared with the part, not those of every tag.
    package func part(for expression: TagExpression?) -> AudienceIndex {
        var part = AudienceIndex()
        (part.everyone, part.withTemplates, part.platforms) = (everyone, withTemplates, platforms)
        part.registrations = registrations
        if let expression { copy(expression, to: &part) }
        return part
    }

    private func copy(_ expression: TagExpression, to part: inout AudienceIndex) {
        switch expression {
        case .tag(let tag):
            part.tags[tag.folded] = tags[tag.folded]
            part.templateTags[tag.folded] = templateTags[tag.folded]
        case .field(.locale): part.locales = locales
        case .field(.country(let country)): part.countries[country] = countries[country]
        case .field(.appVersion): part.versions = versions
        case .field(.lastSeen): part.seen = seen
        case .field(.platform), .installation, .user: break
        case .not(let inner): copy(inner, to: &part)
        case .all(let parts), .any(let parts): for inner in parts { copy(inner, to: &part) }
        }
    }

    /// The part of the index that the divisions of an audience need, as ``part(for:)``.
    package var divisions: AudienceIndex {
        var part = AudienceIndex()
        (part.zones, part.locales, part.persons) = (zones, locales, persons)
        return part
    }

    /// The part of the index that the report of a send needs, as ``part(for:)``.
    package var traits: AudienceIndex {
        var part = AudienceIndex()
        (part.everyone, part.platforms, part.locales, part.versions) = (everyone, platforms, locales, versions)
        return part
    }

    /// How many of an audience have which platform, locale and version; unknown values are missing.
    ///
    /// - Returns: The counts, and the members of the audience that are unreachable now: their values are not known
    ///   here.
    package func traits(of audience: Bitmap) -> (counts: SendReport.Traits, absent: Bitmap) {
        var counts: SendReport.Traits = [:]
        func count(_ members: Bitmap, dimension: SendReport.Dimension, value: String) {
            let found = audience.intersection(members).count
            if found > 0 { counts[dimension, default: [:]][value] = found }
        }
        for (platform, members) in platforms { count(members, dimension: .platform, value: platform.text) }
        for (locale, members) in locales { count(members, dimension: .locale, value: locale) }
        for (version, members) in versions { count(members, dimension: .version, value: version) }
        return (counts, audience.subtracting(everyone))
    }

    /// Adds an installation that is not in it.
    package mutating func insert(_ entry: AudienceEntry) {
        let number = entry.number
        everyone.insert(number)
        for tag in entry.tags { tags[tag.folded, default: Bitmap()].insert(number) }
        for tag in entry.templateTags { templateTags[tag.folded, default: Bitmap()].insert(number) }
        if entry.hasTemplates { withTemplates.insert(number) }
        if entry.isRegistration { registrations.insert(number) }
        platforms[entry.platform, default: Bitmap()].insert(number)
        if let locale = entry.locale { locales[locale, default: Bitmap()].insert(number) }
        if let country = entry.country { countries[country, default: Bitmap()].insert(number) }
        if let version = entry.appVersion { versions[version, default: Bitmap()].insert(number) }
        if let zone = entry.timeZone { zones[zone, default: Bitmap()].insert(number) }
        seen[number] = UInt32(clamping: entry.seenAt.rawValue / 60_000)
        persons[number] = entry.person.rawValue
    }

    /// Takes an installation out, as it was put in.
    package mutating func remove(_ entry: AudienceEntry) {
        let number = entry.number
        everyone.remove(number)
        for tag in entry.tags { Self.remove(number, tag.folded, from: &tags) }
        for tag in entry.templateTags { Self.remove(number, tag.folded, from: &templateTags) }
        withTemplates.remove(number)
        registrations.remove(number)
        Self.remove(number, entry.platform, from: &platforms)
        if let locale = entry.locale { Self.remove(number, locale, from: &locales) }
        if let country = entry.country { Self.remove(number, country, from: &countries) }
        if let version = entry.appVersion { Self.remove(number, version, from: &versions) }
        if let zone = entry.timeZone { Self.remove(number, zone, from: &zones) }
    }

    /// Records when installations were seen. Numbers that are not in the index are ignored.
    package mutating func markSeen(_ numbers: [UInt32], at now: Timestamp) {
        for number in numbers where everyone.contains(number) {
            seen[number] = UInt32(clamping: now.rawValue / 60_000)
        }
    }

    /// Parts of an audience by the time zone that installations name; last those that name none.
    package func byZone(_ audience: Bitmap) -> [(zone: String?, Bitmap)] {
        var rest = audience
        var parts: [(zone: String?, Bitmap)] = []
        for (zone, members) in zones.sorted(by: { $0.key < $1.key }) {
            let part = audience.intersection(members)
            guard !part.isEmpty else { continue }
            parts.append((zone, part))
            rest = rest.subtracting(part)
        }
        return rest.isEmpty ? parts : parts + [(nil, rest)]
    }

    /// The members of an audience in an experiment's hold-out group, which receives nothing.
    package func heldOut(_ audience: Bitmap, _ experiment: CampaignExperiment, campaign: PersonNumber) -> Bitmap {
        guard experiment.holdOut > 0 else { return Bitmap() }
        return Bitmap(
            audience.numbers().lazy.filter { number in
                experiment.group(campaign: campaign, person: PersonNumber(rawValue: persons[number])) == .heldOut
            })
    }

    /// Parts of an audience by the languages that installations name; last those that name none.
    package func byLocale(_ audience: Bitmap) -> [(locale: String?, Bitmap)] {
        var rest = audience
        var parts: [(locale: String?, Bitmap)] = []
        for (locale, members) in locales.sorted(by: { $0.key < $1.key }) {
            let part = audience.intersection(members)
            guard !part.isEmpty else { continue }
            parts.append((locale, part))
            rest = rest.subtracting(part)
        }
        return rest.isEmpty ? parts : parts + [(nil, rest)]
    }

    /// Parts of an audience by the variants of an experiment, in their order. Whose part gets nothing counts to the
    /// first.
    package func byVariant(
        _ audience: Bitmap, _ experiment: CampaignExperiment, campaign: PersonNumber
    ) -> [Bitmap] {
        var parts = [Bitmap](repeating: Bitmap(), count: max(1, experiment.variants.count))
        for number in audience.numbers() {
            switch experiment.group(campaign: campaign, person: PersonNumber(rawValue: persons[number])) {
            case .heldOut: parts[0].insert(number)
            case .variant(let place): parts[place].insert(number)
            }
        }
        return parts
    }

    private static func remove<Key>(_ number: UInt32, _ key: Key, from sets: inout [Key: Bitmap]) {
        sets[key]?.remove(number)
        if sets[key]?.isEmpty == true { sets[key] = nil }
    }

    /// The installations that match an expression.
    ///
    /// - Parameters:
    ///   - countsTemplates: Whether tags of templates count beside those of installations. The answer then holds
    ///     everyone of whom some template may match; which ones do, each template's own tags decide.
    ///   - found: The installations that `$InstallationId` and `$UserId` select, as found in the store.
    package func audience(
        _ expression: TagExpression?, countsTemplates: Bool = false, now: Timestamp,
        found: [TagExpression: Bitmap] = [:]
    ) -> Bitmap {
        guard let expression else { return countsTemplates ? withTemplates : everyone }
        guard countsTemplates else { return members(expression, counted: .own, at: now, found: found) }
        return members(expression, counted: .ofAny, at: now, found: found).intersection(withTemplates)
    }

    /// The tags that count for an installation.
    private enum TagScope {
        /// The installation's own tags.
        case own
        /// The tags of any of its templates as well: the result contains every installation of which some template may
        /// match.
        case ofAny
        /// The tags that all its templates have: the result contains only installations of which each template matches.
        case ofEach

        /// The tags that count within a negation.
        var negated: TagScope {
            switch self {
            case .own: .own
            case .ofAny: .ofEach
            case .ofEach: .ofAny
            }
        }
    }

    private func members(
        _ expression: TagExpression, counted: TagScope, at now: Timestamp, found: [TagExpression: Bitmap]
    ) -> Bitmap {
        switch expression {
        case .tag(let tag):
            let own = tags[tag.folded] ?? Bitmap()
            guard case .ofAny = counted, let more = templateTags[tag.folded] else { return own }
            return own.union(more)
        case .installation, .user: return (found[expression] ?? Bitmap()).intersection(everyone)
        case .field(let test): return members(test, now)
        case .not(let part): return everyone.subtracting(members(part, counted: counted.negated, at: now, found: found))
        case .any(let parts):
            return parts.reduce(Bitmap()) { $0.union(members($1, counted: counted, at: now, found: found)) }
        case .all(let parts):
            var result: Bitmap?
            // What is taken out comes last: it costs no set of everyone else.
            for part in parts.filter({ !$0.isNegation }) {
                let members = members(part, counted: counted, at: now, found: found)
                result = result?.intersection(members) ?? members
            }
            return parts.reduce(result ?? everyone) { result, part in
                guard case .not(let inner) = part else { return result }
                return result.subtracting(members(inner, counted: counted.negated, at: now, found: found))
            }
        }
    }

    private func members(_ test: FieldTest, _ now: Timestamp) -> Bitmap {
        switch test {
        case .locale(let wanted):
            return locales.reduce(Bitmap()) { result, entry in
                Self.locale(entry.key, isOf: wanted) ? result.union(entry.value) : result
            }
        case .country(let country): return countries[country] ?? Bitmap()
        case .platform(let name): return HubPlatform(text: name).flatMap { platforms[$0] } ?? Bitmap()
        case .appVersion(let comparison, let wanted):
            return versions.reduce(Bitmap()) { result, entry in
                AppVersion(entry.key).map { comparison.matches($0, wanted) } ?? false
                    ? result.union(entry.value) : result
            }
        case .lastSeen(let isWithin, let milliseconds):
            let limit = UInt32(clamping: now.adding(milliseconds: -milliseconds).rawValue / 60_000)
            return Bitmap(
                everyone.numbers().lazy.filter { number in (seen[number] >= limit) == isWithin })
        }
    }

    /// Whether a language, such as `de-at`, is of a wanted one, such as `de`.
    package static func locale(_ locale: String, isOf wanted: String) -> Bool {
        locale == wanted || locale.hasPrefix(wanted + "-") || locale.hasPrefix(wanted + "_")
    }
}

extension TagExpression {
    fileprivate var isNegation: Bool { if case .not = self { true } else { false } }
}
