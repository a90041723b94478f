import HubProtocol
import PushCore

/// The JSON schemas of our own hub API's requests and responses (JSON Schema 2020-12).
enum OpenAPISchemas {
    /// The security schemes of requests.
    static let security = json(
        """
        {"apiKey":{"type":"http","scheme":"bearer","description":"A key of `aldaba hub key create --api`, with its rights; or a \
        provider token of the app's team, which may do everything."},
        "signature":{"type":"apiKey","in":"header","name":"Authorization","description":"A shared access signature of a key of \
        the hub: SharedAccessSignature sr=…&sig=…&se=…&skn=…"}}
        """)

    /// The title and description of the document.
    static let about = json(
        """
        {"title":"Aldaba","version":"1","description":"Notifications, devices, files, reports, and notification hubs with \
        their installations, audiences and campaigns. A refusal is a problem (RFC 9457), but for the interfaces of FCM's under \
        /v1/projects, which refuse as Google's do. On the development listener no credential is needed."}
        """)
    /// The security requirements: either credential is sufficient.
    static let ways = json(#"[{"apiKey":[]},{"signature":[]}]"#)
    /// The number of items on a page.
    static let limit = json(#"{"type":"integer","minimum":1,"maximum":1000}"#)
    /// The format of an export.
    static let format = json(#"{"type":"string","enum":["jsonl","csv"]}"#)
    /// The schema of any text.
    static let text = json(#"{"type":"string"}"#)

    /// All schemas by name.
    static let tree = json(
        """
        {"Problem":{"type":"object","required":["type","title","status","code","detail"],"properties":{
            "type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"code":{"type":"string"},
            "detail":{"type":"string"},"pointer":{"type":"string"}}},
        "Text":{"type":"string"},
        "Hub":{"type":"object","required":["name","team","topic","createdAt","reachableInstallations"],"properties":{
            "name":{"type":"string"},"team":{"type":"string"},"topic":{"type":"string"},
            "createdAt":{"type":"string","format":"date-time"},"reachableInstallations":{"type":"integer"},
            "audienceBytes":{"type":"integer"},"distinctTags":{"type":"integer"}}},
        "Channel":{"oneOf":[{"type":"string"},{"type":"object","required":["endpoint","p256dh","auth"],"properties":{
            "endpoint":{"type":"string"},"p256dh":{"type":"string"},"auth":{"type":"string"}}}]},
        "Installation":{"type":"object","required":["platform"],"properties":{
            "installationId":{"type":"string"},
            "platform":{"type":"string","description":"aldaba, apns, fcmV1, gcm, browser, and Azure's others."},
            "pushChannel":{"$ref":"#/components/schemas/Channel"},"userId":{"type":"string"},
            "tags":{"type":"array","maxItems":60,"items":{"type":"string"}},"templates":{"type":"object"},
            "pushVariables":{"type":"object","additionalProperties":{"type":"string"}},
            "expirationTime":{"type":"string"},"locale":{"type":"string"},"timeZone":{"type":"string"},
            "country":{"type":"string"},"appVersion":{"type":"string"},
            "environment":{"type":"string","enum":["sandbox","production"]},
            "createdAt":{"type":"string"},"updatedAt":{"type":"string"},"lastSeen":{"type":"string"},"state":{"type":"string","enum":["live","dead"]},
            "fault":{"type":"object","properties":{"word":{"type":"string"},"at":{"type":"string"}}}}},
        "InstallationPatch":{"oneOf":[{"type":"object"},{"type":"array","items":{"type":"object","required":["op","path"]}}]},
        "InstallationPage":{"type":"object","required":["installations"],"properties":{
            "installations":{"type":"array","items":{"$ref":"#/components/schemas/Installation"}},
            "next":{"type":"string"}}},
        "Erasure":{"type":"object","required":["user","erasedAt","installations","notifications","events"],"properties":{
            "user":{"type":"string"},"erasedAt":{"type":"string"},
            "installations":{"type":"array","items":{"type":"string"}},
            "notifications":{"type":"integer"},"events":{"type":"integer"}}},
        "PersonExport":{"type":"object","required":["user","exportedAt","installations","notifications","events"],"properties":{
            "user":{"type":"string"},"exportedAt":{"type":"string"},
            "installations":{"type":"array","items":{"$ref":"#/components/schemas/Installation"}},
            "notifications":{"type":"array","items":{"type":"object","required":["send","recipient","timeline"],"properties":{
                "send":{"type":"string"},"campaign":{"type":"string"},
                "recipient":{"$ref":"#/components/schemas/Recipient"},
                "timeline":{"type":"array","items":{"type":"object","required":["state","at","source"]}}}}},
            "events":{"type":"array","items":{"type":"object","required":["event","at","data"]}}}},
        "Expression":{"type":"object","required":["expression"],"additionalProperties":false,"properties":{
            "expression":{"type":"string","description":"Whom it means; an empty text means everybody."}}},
        "Audience":{"type":"object","required":["count","contents","templates","sample"],"properties":{
            "count":{"type":"integer"},"contents":{"type":"integer"},"templates":{"type":"integer"},"sample":{"type":"array","items":{"type":"string"}}}},
        "Preview":{"type":"object","required":["installationId"],"additionalProperties":false,"properties":{
            "installationId":{"type":"string"},"properties":{"type":"object"}}},
        "Renderings":{"type":"object","required":["renderings"],"properties":{"renderings":{"type":"array","items":{
            "type":"object"}}}},
        "CampaignPreview":{"type":"object","required":["renderings"],"properties":{"renderings":{"type":"array",
            "items":{"type":"object"}},"mostBytes":{"type":"integer"},"comesAt":{"type":"string"},
            "quietUntil":{"type":"string"},"leftOut":{"type":"string","enum":["notInAudience","deadChannel","expired",
                "otherPlatform","noTemplate","heldOut","capped","quiet","past","gap","unknownZone"]}}},
        "Trials":{"type":"object","required":["trials"],"properties":{"trials":{"type":"array","items":{
            "type":"object","required":["send","results"]}}}},
        "Content":{"type":"object","properties":{
            "title":{"type":"string"},"subtitle":{"type":"string"},"body":{"type":"string"},"sound":{"type":"string"},
            "badge":{"type":"integer","minimum":0},"category":{"type":"string"},"thread":{"type":"string"},
            "level":{"type":"string","enum":["passive","active","time-sensitive","critical"]},
            "image":{"type":"string","format":"uri"},"video":{"type":"string","format":"uri"},
            "pictureKeys":{"type":"array","items":{"type":"string",
                "enum":["attachment-url","ab.att","fcm_options.image","att"]}},"link":{"type":"string"},
            "actions":{"type":"array","maxItems":8,"items":{"type":"object","required":["id","title"],"properties":{
                "id":{"type":"string"},"title":{"type":"string"},"link":{"type":"string"}}}},
            "data":{"type":"object"},"silent":{"type":"boolean"},"locales":{"type":"object"}}},
        "Campaign":{"type":"object","properties":{
            "name":{"type":"string"},"audience":{"type":"string"},
            "content":{"$ref":"#/components/schemas/Content"},"at":{"type":"string"},
            "ttl":{"type":"integer"},"priority":{"type":"integer","enum":[1,5,10]},"collapseId":{"type":"string"},
            "rate":{"type":"integer","minimum":1,"maximum":100000},"properties":{"type":"object"},
            "local":{"type":"object"},"quiet":{"type":"object"},"cap":{"type":"object"},"experiment":{"type":"object"},
            "installationId":{"type":"string"},"devices":{"type":"array","items":{"type":"string"}}}},
        "Outcome":{"type":"object","required":["platform","outcome","count"],"properties":{
            "platform":{"type":"string"},"outcome":{"type":"string"},"count":{"type":"integer"}}},
        "Send":{"type":"object","required":["id","state","format","enqueuedAt","targeted"],"properties":{
            "id":{"type":"string"},"state":{"type":"string"},"format":{"type":"string"},"enqueuedAt":{"type":"string"},
            "targeted":{"type":"integer"},"name":{"type":"string"},"audience":{"type":"string"},"dueAt":{"type":"string"},
            "startedAt":{"type":"string"},"endedAt":{"type":"string"},"reason":{"type":"string"},
            "outcomes":{"type":"array","items":{"$ref":"#/components/schemas/Outcome"}}}},
        "CampaignPage":{"type":"object","required":["campaigns"],"properties":{
            "campaigns":{"type":"array","items":{"$ref":"#/components/schemas/Send"}},"next":{"type":"string"}}},
        "SendPage":{"type":"object","required":["sends"],"properties":{
            "sends":{"type":"array","items":{"$ref":"#/components/schemas/Send"}},"next":{"type":"string"}}},
        "Step":{"type":"object","required":["step","count","source","kind"],"properties":{
            "step":{"type":"string"},"count":{"type":"integer"},
            "source":{"type":"string","enum":["hub","push service","server","device","person"]},
            "kind":{"type":"string","enum":["delivery","engagement"]}}},
        "Report":{"type":"object","required":["state","funnel","ends","parts"],"properties":{
            "state":{"type":"string"},"funnel":{"type":"array","items":{"$ref":"#/components/schemas/Step"}},
            "ends":{"type":"object","additionalProperties":{"type":"integer"}},
            "parts":{"type":"object","additionalProperties":{"type":"object","additionalProperties":{
                "type":"object","additionalProperties":{"type":"integer"}}}}}},
        "Recipient":{"type":"object","required":["installationId","platform","notificationId","end","attempts","at"],
            "properties":{
            "installationId":{"type":"string"},"platform":{"type":"string"},"locale":{"type":["string","null"]},
            "appVersion":{"type":["string","null"]},"part":{"type":["string","null"]},"notificationId":{"type":["string","null"]},
            "end":{"type":"string","enum":["pending","ineligible","refused","accepted","waiting","delivered","presented",
                "opened","action","dismissed","expired","ended"]},
            "outcome":{"type":["string","null"]},"reason":{"type":["string","null"]},"attempts":{"type":"integer"},
            "at":{"type":"string"},"retryAt":{"type":["string","null"]},"reached":{"type":"string"},
            "variant":{"type":["string","null"]}}},
        "RecipientPage":{"type":"object","required":["recipients"],"properties":{
            "recipients":{"type":"array","items":{"$ref":"#/components/schemas/Recipient"}},"next":{"type":"string"}}},
        "FaultPage":{"type":"object","required":["faults"],"properties":{
            "faults":{"type":"array","items":{"type":"object","required":["installationId","outcome","at"]}},
            "next":{"type":"string"}}},
        "Withdrawal":{"type":"object","required":["withdrawn"],"properties":{"withdrawn":{"type":"integer"}}},
        "WebhookAddress":{"type":"object","required":["url"],"additionalProperties":false,"properties":{
            "url":{"type":"string"}}},
        "Webhook":{"type":"object","required":["url","since"],"properties":{
            "url":{"type":"string"},"since":{"type":"string"},"secret":{"type":"string"}}}}
        """)

    /// Parses a constant text; one that could not be parsed would be empty, which a test would detect.
    static func json(_ text: String) -> JSONValue { (try? JSONValue(text: text)) ?? .object([]) }
}
