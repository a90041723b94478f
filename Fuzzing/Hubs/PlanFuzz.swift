import Foundation
import HubProtocol
import HubServer

/// What managers of a hub write beside contents: plans of campaigns, tags, versions, properties of a template send, and Google's service
/// accounts. None may trap; a plan, a tag and a version that are read are written so that they read the same.
enum PlanFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let text = String(decoding: bytes, as: UTF8.self)
        if let plan = try? CampaignPlan(text: text) {
            precondition((try? CampaignPlan(plan.tree)) == plan, "a plan changed")
        }
        if let tag = TagName(text) {
            precondition((1...TagName.longest).contains(tag.text.utf8.count), "a tag out of bounds")
            precondition(TagName(tag.folded)?.folded == tag.folded, "a tag that is folded is another")
        }
        if let version = AppVersion(text) {
            precondition(AppVersion(version.description) == version, "a version changed")
        }
        if let properties = try? PushTemplate.properties(bytes) {
            precondition(properties.keys.allSatisfy { $0 == $0.lowercased() }, "a name that is not folded")
        }
        if let account = try? ServiceAccountKey(text) {
            precondition(!account.project.isEmpty && !account.project.contains("/"), "no part of an address")
        }
    }
}
