import PushCore

/// The members by which payloads name pictures, as the service extensions of the known vendors read them.
package enum PayloadPicture {
    /// Whether a payload names a picture.
    package static func isNamed(in payload: [UInt8]) -> Bool {
        // A payload that is no object was refused before, and names nothing.
        guard let tree = try? JSONValue(object: payload) else { return false }
        let addresses = [tree["attachment-url"], tree["ab"]?["att"]?["url"], tree["fcm_options"]?["image"]]
        let maps = [tree["att"], tree["os_data"]?["att"]]
        return addresses.contains { $0?.text?.isEmpty == false } || maps.contains { $0?.members?.isEmpty == false }
    }

    /// The sentence about a payload that names a picture and asks for no extension.
    package static let unasked =
        "the payload names a picture and asks for no service extension, so that nothing fetches it: it needs a text, and "
        + "mutable-content 1 in aps"
}
