import PushCore
import Testing

@testable import HubProtocol

private func rendered(_ body: String, _ properties: [String: String]) throws -> String {
    String(
        decoding: try PushTemplate(InstallationTemplate(name: "t", body: body)).rendered(properties).body,
        as: UTF8.self)
}

@Test(arguments: [
    ("<t>$(a)</t>", "<t>A&amp;B</t>"), (#"<t id="$(a)" x='$(a)' />"#, #"<t id="A&amp;B" x='A&amp;B' />"#),
    ("<t>plain &amp; $(a)</t>", "<t>plain &amp; $(a)</t>"),
    (
        #"<?xml version="1.0"?><w:N xmlns:w="W"><!-- $(a) --><w:T>{'1 &lt; ' + $(a, 1)}</w:T> <w:U>#(n)</w:U></w:N>"#,
        #"<?xml version="1.0"?><w:N xmlns:w="W"><!-- $(a) --><w:T>1 &lt; A</w:T> <w:U>7</w:U></w:N>"#
    ),
    ("<t><![CDATA[$(a)]]><u/></t>", "<t><![CDATA[$(a)]]><u/></t>"), ("<t><![CDATA[$(a)]]></t>", "<t>A&amp;B</t>"),
    (" <t> </t> ", " <t> </t> "), ("<t>%(a)</t>", "<t>A%26B</t>"), ("<t>$(none:{<i>})</t>", ""),
    ("<t>$(none:{&lt;i&gt;})</t>", "<t>&lt;i&gt;</t>"),
])
func `an expression of XML stands alone in a text or an attribute`(body: String, expected: String) throws {
    guard !expected.isEmpty else {
        #expect(throws: PushTemplate.Fault.self) { try rendered(body, [:]) }
        return
    }
    #expect(try rendered(body, ["a": "A&B", "n": "7"]) == expected)
}

@Test(arguments: [
    "'", "\"", "<", ">", "&", "&amp;", "]]>", "</text><evil/>", "\" evil=\"1", "' evil='1", "<!-- ", "\u{0}",
    "\u{FFFE}", "😀",
])
func `no value breaks XML`(value: String) throws {
    let text = try rendered(
        #"<toast launch="$(v)" tag='$(v)'><text>{'<' + $(v)}</text><raw><![CDATA[$(v)]]></raw></toast>"#
            .replacing("'<'", with: "'&lt;'"), ["v": value])
    let carried = value == "\u{0}" || value == "\u{FFFE}" ? "\u{FFFD}" : value
    let read = try XMLElement(text.utf8)
    #expect(
        read
            == XMLElement(
                "toast", attributes: [("launch", carried), ("tag", carried)],
                children: [XMLElement("text", "<" + carried), XMLElement("raw", carried)]))
}

@Test(arguments: [
    ("<t>$(</t>", "body/t"), ("<t colour='#FF0000'/>", "body/@colour"), ("<t>", "body"), ("<t/><u/>", "body"),
    ("<!DOCTYPE t><t/>", "body"),
])
func `XML that cannot be a template is told where`(body: String, part: String) {
    #expect {
        try PushTemplate(InstallationTemplate(name: "t", body: body))
    } throws: { ($0 as? PushTemplate.Fault)?.part == part }
}

private func registration(_ description: String) throws -> Installation {
    try RegistrationAtom.read(
        Array("<entry><content>\(description)</content></entry>".utf8), id: "r")
}

/// The names in a description as it is answered, and the text of the answer.
private func answer(_ installation: Installation) throws -> (names: [String], text: String) {
    let entry = RegistrationAtom.entry(installation, version: 1, updatedAt: Timestamp(rawValue: 0), address: "http://h")
    let description = try #require(entry["content"]?.children.first)
    return (description.children.map(\.name), entry.text)
}

@Test(arguments: [
    ("Windows", "WnsHeader", "X-WNS-Type", "wns/toast", #"<toast><text id="1">$(a)</text></toast>"#),
    ("Mpns", "MpnsHeader", "X-NotificationClass", "2", #"<wp:Notification xmlns:wp="WPNotification"/>"#),
    ("Windows", "WnsHeader", "X-WNS-Type", "wns/raw", #"{"a":"$(a)"}"#),
])
func `a template of Windows comes back as its clients read it`(
    prefix: String, header: String, name: String, value: String, body: String
) throws {
    let read = try registration(
        """
        <\(prefix)TemplateRegistrationDescription><Tags>a</Tags><ChannelUri>https://some.url/</ChannelUri>\
        <SecondaryTileName>Tile</SecondaryTileName><BodyTemplate><![CDATA[\(body)]]></BodyTemplate>\
        <\(header)s><\(header)><Header>\(name)</Header><Value>\(value)</Value></\(header)></\(header)s>\
        <TemplateName>t</TemplateName></\(prefix)TemplateRegistrationDescription>
        """)
    #expect(read.templates.first?.headers == [.init(name, .string(value))])
    let (names, text) = try answer(read)
    // What comes in another order, .NET's serializer passes over.
    #expect(
        names == [
            "ETag", "ExpirationTime", "RegistrationId", "Tags", "ChannelUri", "SecondaryTileName", "BodyTemplate",
            "\(header)s", "TemplateName",
        ])
    #expect(text.contains("<BodyTemplate><![CDATA[\(body)]]></BodyTemplate>"))
    #expect(try RegistrationAtom.read(Array(text.utf8), id: "r") == read)
    // The document, by which the store keeps it, says the same.
    #expect(try InstallationJSON.read(InstallationJSON.document(read), id: "r") == read)
}

@Test func `Windows' header fields are told where there are none, since its clients demand them`() throws {
    let read = try registration(
        "<WindowsTemplateRegistrationDescription><ChannelUri>u</ChannelUri><BodyTemplate>&lt;t/&gt;</BodyTemplate>"
            + "</WindowsTemplateRegistrationDescription>")
    let (names, text) = try answer(read)
    #expect(names.suffix(3) == ["BodyTemplate", "WnsHeaders", "TemplateName"])
    #expect(text.contains("<WnsHeaders />"))
}

@Test func `the end of a section in a template divides the section`() throws {
    let body = "<t><![CDATA[a]]></t>"
    let read = try registration(
        "<MpnsTemplateRegistrationDescription><ChannelUri>u</ChannelUri><BodyTemplate>\(XMLElement.escaped(body))"
            + "</BodyTemplate></MpnsTemplateRegistrationDescription>")
    #expect(read.templates.first?.body == body)
    #expect(try RegistrationAtom.read(Array(try answer(read).text.utf8), id: "r") == read)
}

@Test func `XML is refused where the push service takes JSON`() {
    #expect(throws: InstallationError.self) {
        try registration(
            "<AppleTemplateRegistrationDescription><DeviceToken>u</DeviceToken><BodyTemplate>&lt;t/&gt;</BodyTemplate>"
                + "</AppleTemplateRegistrationDescription>")
    }
    #expect {
        try InstallationJSON.read(
            try JSONValue(
                text: #"{"platform":"fcmV1","pushChannel":"u","templates":{"a":{"body":"{}"},"b":{"body":"<t/>"}}}"#),
            id: "i")
    } throws: { ($0 as? InstallationError)?.path == "/templates/b/body" }
}
