import PushCore
import SwiftASN1

/// A topic of a provider certificate, with its allowed uses.
package struct CertificateTopic: Hashable, Sendable {
    /// The topic as providers write it in `apns-topic`: a bundle id, with the suffix of its kind.
    package var topic: Topic
    /// Apple's names: `app`, `voip`, `complication`.
    package var kinds: [String]

    /// Names a topic; nothing is checked.
    package init(topic: Topic, kinds: [String]) {
        self.topic = topic
        self.kinds = kinds
    }

    /// The app's own topic, without a suffix.
    package static func app(_ bundleID: Topic) -> CertificateTopic { CertificateTopic(topic: bundleID, kinds: ["app"]) }

    /// The topic of a service that Apple's certificates name beside the app.
    ///
    /// - Parameter service: `voip` or `complication`; the suffix is this name after a dot.
    package static func service(_ service: String, of bundleID: Topic) -> CertificateTopic {
        CertificateTopic(topic: Topic(rawValue: "\(bundleID).\(service)"), kinds: [service])
    }
}

/// The list of topics in a provider certificate: a SEQUENCE in which each topic, a UTF8String, is followed by the
/// SEQUENCE of its kinds.
struct CertificateTopicList: DERImplicitlyTaggable {
    var topics: [CertificateTopic]

    static var defaultIdentifier: ASN1Identifier { .sequence }

    /// More topics than any app has are not read.
    static let limit = 64

    init(topics: [CertificateTopic]) { self.topics = topics }

    init(derEncoded rootNode: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        topics = try DER.sequence(rootNode, identifier: identifier) { nodes in
            var topics: [CertificateTopic] = []
            while let node = nodes.next() {
                let topic = String(try ASN1UTF8String(derEncoded: node))
                guard Topic.hasShape(topic), topics.count < Self.limit, let list = nodes.next() else {
                    throw ASN1Error.invalidASN1Object(reason: "a topic that cannot be one, or without its kinds")
                }
                let kinds = try DER.sequence(of: ASN1UTF8String.self, identifier: .sequence, rootNode: list)
                topics.append(CertificateTopic(topic: Topic(rawValue: topic), kinds: kinds.map { String($0) }))
            }
            return topics
        }
    }

    func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            for topic in topics {
                try coder.serialize(ASN1UTF8String(topic.topic.rawValue))
                try coder.serializeSequenceOf(topic.kinds.map { ASN1UTF8String($0) })
            }
        }
    }
}
