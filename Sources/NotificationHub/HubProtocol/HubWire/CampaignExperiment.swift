import PushCore

/// Several contents for parts of an audience, and a part that gets none.
///
/// The assignment depends only on the campaign and the person: it is the same on all devices of a person, and after a
/// restart.
package struct CampaignExperiment: Hashable, Sendable {
    /// A variant of the content, and its share of the audience.
    package struct Variant: Hashable, Sendable {
        /// The variant's name in counts.
        package var name: String
        /// The share of the audience, in per cent.
        package var share: Int
        /// The variant's content, parsed.
        package var content: CampaignContent
        /// The variant's content, as it was written.
        package var document: JSONValue
    }

    /// The part of the audience that a person is in.
    package enum Group: Hashable, Sendable {
        /// The part that gets nothing.
        case heldOut
        /// The place of a variant.
        case variant(Int)
    }

    /// The part that gets nothing, in per cent.
    package var holdOut: Int
    /// The contents; empty where all others get the campaign's own.
    package var variants: [Variant]

    init(_ reader: PlanReader) throws(InstallationError) {
        try reader.refuseOthers(["holdOut", "variants"])
        holdOut = reader.tree["holdOut"] == nil ? 0 : Int(try reader.number("holdOut", 0...99))
        var variants: [Variant] = []
        for (index, item) in (reader.tree["variants"]?.items ?? []).enumerated() {
            let path = "/experiment/variants/\(index)"
            let part = try PlanReader(item, path)
            try part.refuseOthers(["name", "share", "content"])
            guard let name = item["name"]?.text, (1...64).contains(name.utf8.count),
                !variants.contains(where: { $0.name == name })
            else { throw part.fault("name", "expected a name of 1 to 64 bytes that no other variant has") }
            guard let document = item["content"] else { throw part.fault("content", "the content is missing") }
            let content: CampaignContent
            do { content = try CampaignContent(document) } catch {
                throw InstallationError("\(path)/content\(error.path)", error.message)
            }
            variants.append(
                Variant(
                    name: name, share: Int(try part.number("share", 1...100)), content: content, document: document))
        }
        guard variants.count <= 10 else { throw reader.fault("variants", "at most 10 variants are taken") }
        let sum = holdOut + variants.reduce(0) { $0 + $1.share }
        guard variants.isEmpty ? holdOut > 0 : sum == 100 else {
            throw reader.fault(
                "variants", "the shares and the hold-out add up to \(sum) per cent; they are to add up to 100")
        }
        guard Set(variants.map(\.content.isSilent)).count < 2 else {
            throw reader.fault("variants", "either all contents are silent or none is")
        }
        self.variants = variants
    }

    var tree: JSONValue {
        var members: [JSONValue.Member] = [.init("holdOut", .number(String(holdOut)))]
        if !variants.isEmpty {
            members.append(
                .init(
                    "variants",
                    .array(
                        variants.map {
                            .object([
                                .init("name", .string($0.name)), .init("share", .number(String($0.share))),
                                .init("content", $0.document),
                            ])
                        })))
        }
        return .object(members)
    }

    /// The part in which a person is.
    ///
    /// - Parameters:
    ///   - campaign: The campaign's id.
    ///   - person: ``PersonNumber`` of the user's id, or of the installation's where it has no user.
    package func group(campaign: PersonNumber, person: PersonNumber) -> Group {
        var place = Int(PersonNumber.mixed(campaign, person) % 10_000)
        place -= holdOut * 100
        if place < 0 { return .heldOut }
        for (index, variant) in variants.enumerated() {
            place -= variant.share * 100
            if place < 0 { return .variant(index) }
        }
        return .variant(max(0, variants.count - 1))
    }
}

/// A text as a number, by which people are divided into parts: FNV-1a of 32 bits over its UTF-8.
package struct PersonNumber: Hashable, Sendable {
    /// The number.
    package let rawValue: UInt32

    /// Takes a number as it is.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The number of a text.
    package init(_ text: String) {
        rawValue = text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    /// A number from both, each of whose bits depends on all of theirs (Stafford's mix 13).
    static func mixed(_ left: PersonNumber, _ right: PersonNumber) -> UInt64 {
        var value = UInt64(left.rawValue) << 32 | UInt64(right.rawValue)
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}

extension Installation {
    /// The person to whom the installation belongs: a number of the user's id, or of its own where it has no user.
    package var person: PersonNumber { PersonNumber((userID ?? id).lowercased()) }
}
