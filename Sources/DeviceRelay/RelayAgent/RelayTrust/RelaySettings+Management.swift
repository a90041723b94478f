import CoreValues
import RelayProtocol

/// The settings that a user at a terminal changes and reads.
extension RelaySettings {
    /// Changes settings according to a user's command.
    ///
    /// - Returns: The reason why they are not changed; `nil` where they may be.
    mutating func change(by management: RelayManagement, at now: Timestamp) -> RelayOutcome? {
        switch management {
        case .showAccount: if account == nil { account = AccountKey() }
        case .join(let text):
            guard let key = AccountKey(text: text) else {
                return RelayOutcome(
                    .failed, detail: "that is no account key; `aldaba relay account show` tells one")
            }
            guard account.map({ $0 == key }) ?? true else {
                return RelayOutcome(
                    .failed,
                    detail: "this device is of another account; take it from that by `aldaba relay account leave`")
            }
            change(account: key)
        case .leave:
            change(account: nil)
        case .rename(let name):
            if let fault = Self.fault(ofName: name) { return RelayOutcome(.failed, detail: fault) }
            self.name = name
        case .scheme(let scheme, let allowed):
            let scheme = scheme.lowercased()
            if let fault = AddressRule.fault(ofRule: scheme, isAllowed: allowed) {
                return RelayOutcome(.denied, detail: fault)
            }
            if allowed { schemes.insert(scheme) } else { schemes.remove(scheme) }
        case .grant(
            let device, let app, let service, let allowed, let seconds,
            let needsUnlocked):
            guard seconds.map({ RelayManagement.grantSeconds.contains($0) }) ?? true else {
                return RelayOutcome(
                    .failed, detail: "a grant lasts 1 to \(RelayManagement.grantSeconds.upperBound) seconds")
            }
            let grant = Grant(device: device, app: app, service: service)
            guard
                allowed || isGrantedAlone(device, app: app, service: service)
                    || isDeniedAlone(device, app: app, service: service)
            else {
                return RelayOutcome(
                    .failed, detail: "no such thing was granted or denied; `aldaba relay grants` lists them")
            }
            decide(
                grant, isGranted: allowed, until: seconds.map { now + .seconds($0) }, needsUnlocked: needsUnlocked)
        case .deny(let device, let app, let service):
            deny(Grant(device: device, app: app, service: service))
        case .connections(let idle, let grace):
            guard [idle, grace].allSatisfy({ $0.map { (0...86_400).contains($0) } ?? true }) else {
                return RelayOutcome(.failed, detail: "that is 0 to 86400 seconds")
            }
            connectionIdle = idle ?? connectionIdle
            connectionGrace = grace ?? connectionGrace
        case .filesFolder(let path): filesFolder = path
        case .photosFolder(let path): photosFolder = path
        case .wakeBy(let channel): wake = channel
        case .program(let name, let words):
            var programs = self.programs ?? [:]
            programs[name] = words.isEmpty ? nil : words
            self.programs = programs.isEmpty ? nil : programs
        case .status, .grants, .commands, .log, .pair, .confirm, .dismiss: break
        }
        return nil
    }

    /// A page of the granted and denied access rights, in one sorted list.
    ///
    /// - Parameters:
    ///   - first: The index of the page's first entry.
    ///   - name: The name of a device; `nil` for one that is not known.
    func page(ofGrantsFrom first: Int64, name: (String) -> String?) -> RelayMap {
        let granted = grants.map { ($0, true) }
        let all = (granted + (denials ?? []).map { ($0, false) }).sorted { one, other in
            (one.0.device, one.0.app, one.0.service) < (other.0.device, other.0.app, other.0.service)
        }
        let page = all.dropFirst(Int(clamping: max(0, first))).prefix(RelayManagement.pageSize)
        return [
            "count": .integer(Int64(all.count)),
            "grants": .array(
                page.map { grant, isGranted in
                    var entry: RelayMap = [
                        "device": .string(grant.device), "app": .string(grant.app), "service": .string(grant.service),
                        "granted": .bool(isGranted),
                    ]
                    if let name = name(grant.device) { entry["name"] = .string(name) }
                    if let end = grantEnds?[grant] { entry["until"] = .date(milliseconds: end) }
                    if unlockedGrants?.contains(grant) ?? false { entry["unlocked"] = true }
                    return .dictionary(entry)
                }),
        ]
    }
}
