import HubProtocol
import PushCore

/// Parses the document of a campaign.
///
/// ```
/// {"name":…,"audience":…,"content":{…},"at":…,"ttl":…,"priority":…,"collapseId":…,"rate":…,
///  "local":{…},"quiet":{…},"cap":{…},"experiment":{…}}
/// ```
/// With `properties` in place of `content` it is a campaign that uses the templates of installations.
enum CampaignDocument {
    private static let members: Set<String> = [
        "name", "audience", "content", "properties", "at", "ttl", "priority", "collapseId", "rate",
    ]

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - more: Members that the caller reads itself.
    ///   - key: The idempotency key of the request.
    ///   - pictureKeys: The hub's choice for contents that name no keys.
    static func read(
        _ document: JSONValue, more: Set<String> = [], key: String? = nil, pictureKeys: [PictureKey]?
    ) throws(InstallationError) -> SendRequest {
        let tree = document.choosing(pictureKeys)
        guard let given = tree.members else { throw InstallationError("", "a campaign is a JSON object") }
        let known = members.union(CampaignPlan.members).union(more)
        if let unknown = given.first(where: { !known.contains($0.name) }) {
            throw InstallationError("/\(unknown.name)", "there is no such member; there are \(known.sorted())")
        }
        let plan = try CampaignPlan(tree)
        let (format, body, isSilent) = try content(tree, plan)
        var headers: [String: String] = [:]
        if let isSilent { headers["apns-push-type"] = isSilent ? "background" : "alert" }
        if isSilent == true { headers["apns-priority"] = "5" }
        headers["servicebusnotification-timetolive"] = try number(tree, "ttl")
        if let priority = try number(tree, "priority") { headers["apns-priority"] = priority }
        headers["apns-collapse-id"] = try text(tree, "collapseId")
        var rate: Int?
        if let text = try number(tree, "rate") {
            guard let count = Int(text), (1...100_000).contains(count) else {
                throw InstallationError("/rate", "a rate is 1 to 100000 a second")
            }
            rate = count
        }
        return SendRequest(
            format: format, body: body, headers: headers, target: .audience(try text(tree, "audience")),
            dueAt: try dueAt(tree, plan), idempotencyKey: key, campaign: try text(tree, "name") ?? "",
            readsFields: true, rate: rate, plan: plan)
    }

    private static func content(
        _ tree: JSONValue, _ plan: CampaignPlan
    ) throws(InstallationError) -> (SendFormat, [UInt8], isSilent: Bool?) {
        let variants = plan.experiment?.variants ?? []
        if let properties = tree["properties"], properties != .null {
            guard tree["content"] ?? .null == .null, variants.isEmpty else {
                throw InstallationError("/properties", "a campaign has either properties for templates or contents")
            }
            do { _ = try PushTemplate.checkedProperties(properties.bytes) } catch {
                throw InstallationError("/properties\(error.path)", error.message)
            }
            return (.template, properties.bytes, nil)
        }
        guard variants.isEmpty || tree["content"] ?? .null == .null else {
            throw InstallationError("/content", "a campaign has either a content or an experiment's variants")
        }
        guard let content = variants.first?.document ?? tree["content"] else {
            throw InstallationError("/content", "the content is missing")
        }
        let read: CampaignContent
        do {
            read = try CampaignContent(content)
            // Variants' contents are checked below.
            if variants.isEmpty { try CampaignContentValidator.check(content) }
        } catch {
            throw InstallationError("/content\(error.path)", error.message)
        }
        for (place, variant) in variants.enumerated() {
            do { try CampaignContentValidator.check(variant.document) } catch {
                throw InstallationError("/experiment/variants/\(place)/content\(error.path)", error.message)
            }
        }
        guard variants.allSatisfy({ $0.content.isSilent == read.isSilent }) else {
            throw InstallationError("/experiment/variants", "either all contents are silent or none is")
        }
        return (.content, content.bytes, read.isSilent)
    }

    private static func dueAt(_ tree: JSONValue, _ plan: CampaignPlan) throws(InstallationError) -> Timestamp? {
        guard let at = tree["at"], at != .null else { return plan.local?.earliest }
        guard plan.local == nil else {
            throw InstallationError("/at", "a campaign has either an instant or the recipients' local time")
        }
        guard let instant = at.text.flatMap(WireTime.read) else {
            throw InstallationError("/at", "expected an instant such as 2030-01-01T09:00:00+01:00")
        }
        return instant
    }

    private static func number(_ tree: JSONValue, _ name: String) throws(InstallationError) -> String? {
        guard let value = tree[name], value != .null else { return nil }
        guard let number = value.integer else { throw InstallationError("/\(name)", "this is to be a whole number") }
        return String(number)
    }

    private static func text(_ tree: JSONValue, _ name: String) throws(InstallationError) -> String? {
        guard let value = tree[name], value != .null else { return nil }
        guard let text = value.text else { throw InstallationError("/\(name)", "this is to be a string") }
        return text
    }
}
