import PushCore
import Testing
import Texts

@testable import Console

@Suite struct ReportTests {
    private let texts = Catalogue.of(.english)

    private func report() throws -> DayReport {
        DayReport(
            try JSONValue(
                text: """
                    {"from":"2026-11-26","to":"2026-11-28","rows":[
                    {"app":"a","day":"2026-11-26","lane":"apns","counts":{"accepted":2,"opened":1,"ends":{"delivered":2}}},
                    {"app":"b","day":"2026-11-28","lane":"fcm","label":"=x","counts":{"accepted":3,"ends":{"expired":3}}},
                    {"app":"a","day":"2026-11-28","lane":"fcm","counts":{"accepted":4,"ends":{}}}],
                    "total":{"accepted":9,"opened":1,"ends":{"delivered":2}}}
                    """))
    }

    @Test(arguments: [
        (ReportGrouping.day, ["2026-11-26", "2026-11-27", "2026-11-28"], [2, 0, 7]), (.app, ["a", "b"], [6, 3]),
        (.label, ["(no label)", "=x"], [6, 3]), (.lane, ["Apple (APNs)", "Firebase (FCM)"], [2, 7]),
    ])
    func `rows are added up`(_ grouping: ReportGrouping, _ names: [String], _ accepted: [Int]) throws {
        let rows = try report().grouped(by: grouping, texts)
        #expect(rows.map(\.name) == names)
        #expect(rows.map { ReportFigure.accepted.count($0.counts) } == accepted)
    }

    @Test func `a row has a field for each column`() throws {
        let fields = DayReport.fields(try report().rows[1])
        #expect(fields.count == DayReport.columns.count)
        #expect(Array(fields.prefix(5)) == ["2026-11-28", "b", "fcm", "=x", "3"])
        #expect(fields[DayReport.columns.firstIndex(of: "expired")!] == "3")
    }

    @Test(arguments: Language.allCases)
    func `each figure has a name and a source`(_ language: Language) {
        let texts = Catalogue.of(language).texts
        for figure in ReportFigure.allCases {
            for kind in ["figure", "source", "from"] { #expect(texts["reports.\(kind).\(figure.rawValue)"] != nil) }
        }
        for name in DayReport.columns.suffix(10) { #expect(texts["reports.end.\(name)"] != nil) }
        for group in CampaignForm.groups {
            #expect(texts["campaign.group.\(group.name)"] != nil)
            for field in group.fields { #expect(texts["campaign.field.\(field.name)"] != nil) }
        }
    }

    @Test func `an event of the API becomes fragments`() throws {
        let fragment = EventConverter.fragment("state", "<p>\n</p>")
        #expect(fragment == "event: fragment\ndata: {\"id\":\"state\",\"html\":\"<p>\\n</p>\"}\n\n")
    }

    @Test func `a report is over when nothing can arrive`() throws {
        let over = try JSONValue(text: #"{"state":"Completed","ends":{"opened":2}}"#)
        let open = try JSONValue(text: #"{"state":"Completed","ends":{"opened":2,"presented":1}}"#)
        let paused = try JSONValue(text: #"{"state":"Paused","ends":{}}"#)
        #expect(CampaignReport.isOver(over) && !CampaignReport.isOver(open) && !CampaignReport.isOver(paused))
    }
}
