import PushCore
import Testing

@testable import HubProtocol

@Test(arguments: HubPlatform.allCases.filter { $0 != .aldaba && $0 != .xiaomi && $0 != .browser })
func `a registration is read as it was written`(platform: HubPlatform) throws {
    var installation = Installation(id: "one", platform: platform, channel: .handle("a token-of two"))
    installation.isRegistration = true
    installation.tags = ["a", "B"].compactMap { TagName($0) }
    installation.pushVariables = ["x": "<1>"]
    for hasTemplate in [false, true] {
        if hasTemplate {
            var template = InstallationTemplate(name: "t", body: #"{"a":"{'<]]>' + $(b)}"}"#)
            template.headers = [.init("apns-priority", .string("5"))]
            template.expiry = "$(when)"
            installation.templates = [template]
        }
        let entry = RegistrationAtom.entry(
            installation, version: 3, updatedAt: Timestamp(rawValue: 0), address: "http://h")
        #expect(try RegistrationAtom.read(Array(entry.text.utf8), id: "one") == installation)
        let description = try #require(entry["content"]?.children.first)
        #expect(description.children.first?.name == "ETag")
        #expect(description.name.contains("Template") == hasTemplate)
    }
}

@Test(arguments: [
    "<entry/>", "<entry><content/></entry>", "<entry><content><XRegistrationDescription/></content></entry>",
    "<entry><content><AppleRegistrationDescription/></content></entry>",
])
func `an entry without a registration is refused`(text: String) {
    #expect(throws: InstallationError.self) { try RegistrationAtom.read(Array(text.utf8), id: "x") }
}

@Test(
    arguments: [
        ("de-AT", #"{"title":"Servus","body":"Text"}"#), ("de", #"{"title":"Hallo","body":"Text"}"#),
        ("de_CH", #"{"title":"Hallo","body":"Text"}"#), ("fr", #"{"title":"Hello","body":"Text"}"#),
        (nil, #"{"title":"Hello","body":"Text"}"#),
    ] as [(String?, String)])
func `a campaign speaks the recipient's language`(locale: String?, alert: String) throws {
    let content = try CampaignContent.read(
        Array(
            """
            {"title":"Hello","body":"Text","sound":"default","badge":3,"level":"active","image":"https://h/p.png",
             "data":{"k":1},"locales":{"de":{"title":"Hallo"},"de-AT":{"title":"Servus"}}}
            """.utf8))
    let tree = try JSONValue(content.payload(locale: locale))
    #expect(tree["aps"]?["alert"]?.json == alert)
    #expect(tree["aps"]?["mutable-content"] == .number("1"))
    #expect(tree["k"] == .number("1"))
    #expect(content.largestPayload == content.payload(locale: "de-at").count)
}

@Test(arguments: [
    ("[]", ""), ("{}", "/body"), (#"{"body":1}"#, "/body"), (#"{"body":"x","badge":-1}"#, "/badge"),
    (#"{"body":"x","level":"loud"}"#, "/level"), (#"{"body":"x","image":"http://h"}"#, "/image"),
    (#"{"body":"x","data":{"aps":{}}}"#, "/data/aps"), (#"{"body":"x","more":1}"#, "/more"),
    (#"{"body":"x","locales":{"de":{"body":1}}}"#, "/locales/de/body"),
])
func `a campaign that cannot be taken is told where`(text: String, path: String) {
    #expect { try CampaignContent.read(Array(text.utf8)) } throws: { ($0 as? InstallationError)?.path == path }
}
