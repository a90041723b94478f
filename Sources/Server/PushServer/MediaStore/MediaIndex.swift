import PushCore

/// The files that are kept, and how much more may be. A value: files and time are its caller's.
struct MediaIndex: Sendable {
    /// The maximum size of all files together, in bytes, including uploads under way.
    let quota: Int64
    /// The maximum number of files.
    let countLimit: Int
    /// The highest number of bytes that the files of one team may take, uploads in progress included.
    let teamQuota: Int64
    /// Whether a register counts the files of all servers; then uploads under way alone count here.
    let isShared: Bool

    private var files: [MediaName: MediaFile] = [:]
    private var names: [Content: MediaName] = [:]
    /// The files that expire within one hour, by that hour: the sweep checks the hours that are over.
    private var hours: [Int64: Set<MediaName>] = [:]
    private(set) var kept: Int64 = 0
    private(set) var arriving: Int64 = 0
    private var teams: [TeamID: Use] = [:]

    /// The files and bytes of one team.
    private struct Use {
        var kept: Int64 = 0
        var arriving: Int64 = 0
        var count = 0

        var isNone: Bool { kept == 0 && arriving == 0 && count == 0 }
    }

    /// The identity of a file's content: the same bytes, of the same team.
    private struct Content: Hashable {
        var digest: String
        var team: TeamID?

        init(_ digest: String, _ team: TeamID?) { (self.digest, self.team) = (digest, team) }
    }

    init(quota: Int64, countLimit: Int, teamQuota: Int64, isShared: Bool = false) {
        self.isShared = isShared
        self.quota = quota
        self.countLimit = countLimit
        self.teamQuota = teamQuota
    }

    /// The highest number of files of one team, so that others may keep some.
    private var teamCountLimit: Int { max(1, countLimit / 2) }

    /// How many files there are.
    var count: Int { files.count }

    // MARK: Shares

    /// Sets bytes aside that arrive.
    ///
    /// - Parameter team: The team whose share they count in; `nil` for none.
    mutating func reserve(_ bytes: Int64, for team: TeamID?) throws(MediaRejection) {
        if let team {
            var use = teams[team] ?? Use()
            if isShared { (use.kept, use.count) = (0, 0) }
            guard use.count < teamCountLimit else { throw .teamCount(teamCountLimit) }
            guard bytes <= teamQuota - use.kept - use.arriving else {
                throw .teamQuota(used: use.kept + use.arriving, limit: teamQuota)
            }
        }
        guard isShared || count < countLimit else { throw .count(countLimit) }
        guard bytes <= quota - (isShared ? 0 : kept) - arriving else { throw .quota(quota) }
        arriving += bytes
        change(team) { $0.arriving += bytes }
    }

    /// Gives bytes back that were set aside.
    mutating func release(_ bytes: Int64, of team: TeamID?) {
        arriving -= bytes
        change(team) { $0.arriving -= bytes }
    }

    /// Changes what a team takes, and forgets it where that is nothing.
    private mutating func change(_ team: TeamID?, _ body: (inout Use) -> Void) {
        guard let team else { return }
        var use = teams[team] ?? Use()
        body(&use)
        teams[team] = use.isNone ? nil : use
    }

    // MARK: Files

    /// The file with a name, unless it has expired.
    func file(_ name: MediaName, at now: Timestamp) -> MediaFile? {
        files[name].flatMap { $0.expires > now ? $0 : nil }
    }

    /// The file with a name, also where it has expired.
    func entry(_ name: MediaName) -> MediaFile? { files[name] }

    /// The names of all files.
    var allNames: [MediaName] { Array(files.keys) }

    /// The team's file with those bytes, unless it has expired.
    func file(digest: String, team: TeamID?, at now: Timestamp) -> MediaFile? {
        names[Content(digest, team)].flatMap { file($0, at: now) }
    }

    /// Adds a file, replacing an earlier one with its name.
    mutating func insert(_ file: MediaFile) {
        remove(file.name)
        files[file.name] = file
        names[Content(file.digest, file.team)] = file.name
        hours[Self.hour(file.expires), default: []].insert(file.name)
        kept += file.bytes
        change(file.team) {
            $0.kept += file.bytes
            $0.count += 1
        }
    }

    /// Makes a file live longer in memory; its record follows with the sweep.
    mutating func extend(_ name: MediaName, to expires: Timestamp) {
        guard var file = files[name], file.expires < expires else { return }
        file.expires = expires
        insert(file)
    }

    /// Removes a file; returns it if it existed.
    @discardableResult
    mutating func remove(_ name: MediaName) -> MediaFile? {
        guard let file = files.removeValue(forKey: name) else { return nil }
        let content = Content(file.digest, file.team)
        if names[content] == name { names[content] = nil }
        let hour = Self.hour(file.expires)
        hours[hour]?.remove(name)
        if hours[hour]?.isEmpty == true { hours[hour] = nil }
        kept -= file.bytes
        change(file.team) {
            $0.kept -= file.bytes
            $0.count -= 1
        }
        return file
    }

    /// The names of files whose hour of expiration is over.
    func expired(at now: Timestamp) -> [MediaName] {
        let present = Self.hour(now)
        return hours.filter { $0.key < present }.flatMap(\.value)
    }

    /// The files in the order of their names, at most `limit`, after a name; of one team, or of all.
    ///
    /// Every file is checked: this is for operators who inspect the store.
    func list(team: TeamID?, after: MediaName?, limit: Int, at now: Timestamp) -> [MediaFile] {
        let found = files.values.filter { file in
            file.expires > now && (team == nil || file.team == team) && after.map { file.name > $0 } != false
        }
        return Array(found.sorted { $0.name < $1.name }.prefix(limit))
    }

    private static func hour(_ time: Timestamp) -> Int64 { time.rawValue / 3_600_000 }
}
