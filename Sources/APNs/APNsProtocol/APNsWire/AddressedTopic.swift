import PushCore

extension PushType {
    /// The suffix of the app's own topic in `apns-topic`; `nil` for types that are sent to the topic itself.
    ///
    /// Source: Apple, "Sending notification requests to APNs". `mdm` has a topic of its own, not a suffix.
    package var topicSuffix: StaticString? {
        switch self {
        case .alert, .background, .mdm: nil
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The type whose suffix a topic ends in, and the topic before it.
    fileprivate static func suffixing(_ topic: ArraySlice<UInt8>) -> (type: PushType, app: ArraySlice<UInt8>)? {
        for type in allCases {
            if let app = type.app(of: topic) { return (type, app) }
        }
        return nil
    }

    /// The topic before this type's suffix; `nil` when the type has none or the topic does not end in it.
    fileprivate func app(of topic: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let suffix = topicSuffix, topic.count > suffix.utf8CodeUnitCount else { return nil }
        let end = topic.suffix(suffix.utf8CodeUnitCount)
        guard end.elementsEqual(UnsafeBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount)) else {
            return nil
        }
        return topic.dropLast(suffix.utf8CodeUnitCount)
    }
}

/// The app that `apns-topic` and `apns-push-type` address together.
///
/// The push type decides. One that has a suffix needs a topic with that suffix, and the app is named by what is before
/// it. Any other addresses the app of the whole topic, whatever that ends in: a bundle id may end in `.voip`. Without
/// a push type the app of the whole topic comes first; where there is none, a suffix implies its push type.
package struct AddressedTopic {
    /// The topic of the app.
    package let topic: ArraySlice<UInt8>
    /// The push type as the provider sent it.
    package let pushType: PushType?

    /// Reads topic and push type together.
    ///
    /// - Throws: `InvalidPushType` when the push type asks for a suffix that the topic has not.
    package init(topic: ArraySlice<UInt8>, pushType: PushType?) throws(APNsRejection) {
        self.pushType = pushType
        guard let pushType, let suffix = pushType.topicSuffix else {
            self.topic = topic
            return
        }
        guard let app = pushType.app(of: topic) else {
            throw APNsRejection(
                .invalidPushType,
                note: "apns-push-type \(pushType.rawValue) belongs to a topic that ends in \(suffix), "
                    + "and apns-topic is \(String(decoding: topic, as: UTF8.self))")
        }
        self.topic = app
    }

    /// The app to try when no app has the whole topic.
    ///
    /// - Returns: the topic before the suffix, and the push type that the suffix implies; `nil` when there is no
    ///   suffix.
    /// - Throws: `InvalidPushType` when the suffix belongs to another push type than the one that was sent.
    package func withoutSuffix() throws(APNsRejection) -> (topic: ArraySlice<UInt8>, pushType: PushType)? {
        // A topic whose suffix was taken off may end in another; that one belongs to the app's name.
        guard pushType?.topicSuffix == nil, let suffixed = PushType.suffixing(topic) else { return nil }
        guard let pushType else { return (suffixed.app, suffixed.type) }
        let text = String(decoding: topic, as: UTF8.self)
        throw APNsRejection(
            .invalidPushType,
            note: "no app has the topic \(text), and its suffix belongs to apns-push-type "
                + "\(suffixed.type.rawValue), not \(pushType.rawValue)")
    }
}
