import HubProtocol
import Testing

@Test func `what is written in XML is read again`() throws {
    let element = XMLElement(
        "a", attributes: [("b", "<\"&'>")],
        children: [XMLElement("c", " x & y <z> \u{1F600}"), XMLElement("d", ""), XMLElement("e", "tab\t")])
    #expect(try XMLElement(element.text.utf8) == element)
}

@Test(arguments: [
    ("<a>&#65;&#x42;&amp;<![CDATA[<&]]>c</a>", "AB&<&c"), ("<?xml version='1.0'?><!-- x --><n:a i='1' >t</n:a > ", "t"),
])
func `XML is read as it is meant`(text: String, content: String) throws {
    let element = try XMLElement(text.utf8)
    #expect(element.name == "a")
    #expect(element.content == content)
}

@Test(arguments: [
    "", "<a", "<a>", "<a></b>", "<a/><b/>", "x<a/>", "<!DOCTYPE a><a/>", "<a>&bomb;</a>", "<a>&#0;</a>", "<a>&</a>",
    "<a b/>", "<a b=c/>", "<a b='c/>", "<a><![CDATA[x</a>", "<a><!-- </a>", String(repeating: "<a>", count: 65),
])
func `a text that is no XML is refused`(text: String) {
    #expect(throws: XMLElement.Fault.self) { try XMLElement(text.utf8) }
}

@Test func `the places of values are those between the marks`() throws {
    let text = #"<a b="&lt;" c='d'>&amp;<e/><f> g </f><!-- h --></a>"#
    let places = try XMLElement.places(in: Array(text.utf8))
    #expect(places.map(\.name) == ["@b", "@c", "f"])
    #expect(places.map(\.content) == ["<", "d", " g "])
    #expect(places.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) } == ["&lt;", "d", " g "])
}

@Test func `a text in a section of CDATA comes back, whatever is in it`() throws {
    var element = XMLElement("a", "<&>]]>]]]]>\u{0}")
    element.isVerbatim = true
    #expect(element.text.hasPrefix("<a><![CDATA[<&>"))
    #expect(try XMLElement(element.text.utf8).content == "<&>]]>]]]]>\u{FFFD}")
}
