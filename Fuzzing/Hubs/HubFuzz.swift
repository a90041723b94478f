import Foundation
import HubProtocol
import PushCore

/// What clients of a hub can send: expressions, templates, documents, patches, registrations, batches, signatures; and what the
/// store holds of audiences. The first byte says which.
enum HubFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        HubFuzz.feed(Array(input))
    }

    private static func feed(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        let text = String(decoding: bytes, as: UTF8.self)
        switch first % 8 {
        case 0:
            guard let expression = try? TagExpression(text, limits: .init(readsFields: true)) else { return }
            _ = AudienceIndex().audience(expression, now: .init(rawValue: 0))
        case 1: _ = (try? TemplateExpression(text))?.value(["a": text, "b": "1"], limit: 1000)
        case 2:
            guard let template = try? PushTemplate(InstallationTemplate(name: "t", body: text)) else { return }
            guard let body = (try? template.rendered(["a": text, "b": "\"}"]))?.body else { return }
            precondition(body.count <= PushTemplate.mostBytes, "a rendering stops at its limit")
            let isRead = (try? JSONValue(body))?.members != nil || (try? XMLElement(body)) != nil
            precondition(isRead, "a rendered template is an object, or an element")
        case 3:
            guard let tree = try? JSONValue(bytes) else { return }
            precondition((try? JSONValue(tree.bytes)) == tree, "a tree is read again as it was written")
            if let read = try? InstallationJSON.read(tree, id: nil) {
                let document = InstallationJSON.document(read)
                precondition((try? InstallationJSON.read(document, id: nil)) == read, "so is an installation")
            }
            _ = try? CampaignContent(tree).largestPayload
            _ = InstallationPatch.merge(tree, into: tree)
            let document: JSONValue = .object([.init("tags", .array([.string("a")]))])
            _ = try? InstallationPatch.apply(tree, to: document)
        case 4:
            if let element = try? XMLElement(bytes) { _ = try? XMLElement(element.text.utf8) }
            _ = try? RegistrationAtom.read(bytes, id: "i")
        case 5: _ = try? MultipartBatch(bytes, contentType: "multipart/mixed; boundary=b")
        case 6:
            let signature = SharedAccessSignature(authorization: text)
            _ = signature?.covers(path: "/a/b") { $0 == "h" }
            _ = WireTime.read(text)
        default:
            guard let bitmap = Bitmap(portable: bytes) else { return }
            precondition(Bitmap(portable: bitmap.portable) == bitmap, "a bitmap is read again as it was written")
            precondition(bitmap.numbers().count == bitmap.count, "a bitmap has as many numbers as it says")
        }
    }
}
