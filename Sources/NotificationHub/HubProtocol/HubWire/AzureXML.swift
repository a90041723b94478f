/// The XML documents of Azure's data plane.
package enum AzureXML {
    /// The namespace of its own elements.
    package static let namespace = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    /// The namespace of ATOM (RFC 4287).
    package static let atom = "http://www.w3.org/2005/Atom"

    /// The body of a refusal.
    package static func error(code: Int, detail: String) -> String {
        XMLElement("Error", children: [XMLElement("Code", String(code)), XMLElement("Detail", detail)]).text
    }
}
