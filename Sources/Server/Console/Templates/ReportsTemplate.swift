extension Templates {
    /// The report by day, app, label and platform.
    static let reports = #"""
        {{<layout}}{{$main}}
        <p>{{t.reports.intro}} <a href="/console/reports/sends">{{t.reports.send}}</a></p>
        <form class="filters" method="get" action="/console/reports">
        <label>{{t.reports.app}} <input name="app" value="{{filter.app}}" list="apps" autocomplete="off"></label>
        <datalist id="apps">{{#apps}}<option value="{{.}}">{{/apps}}</datalist>
        <label>{{t.reports.label}} <input name="label" value="{{filter.label}}"></label>
        <label>{{t.reports.lane}} <select name="lane">{{#lanes}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/lanes}}</select></label>
        <label>{{t.reports.from}} <input name="from" type="date" value="{{filter.from}}"></label>
        <label>{{t.reports.to}} <input name="to" type="date" value="{{filter.to}}"></label>
        <label>{{t.reports.by}} <select name="by">{{#groupings}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/groupings}}</select></label>
        <div class="buttons"><button>{{t.reports.show}}</button> <a class="button" href="/console/reports">{{t.inbox.clear}}</a></div>
        </form>
        {{#report}}
        <p>{{period}}</p>
        {{>report-figures}}
        {{#isEmpty}}<p class="empty">{{t.reports.empty}}</p>{{/isEmpty}}
        {{^isEmpty}}{{#chart}}{{>chart}}{{/chart}}{{/isEmpty}}
        <h2>{{groupedBy}}</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="{{groupedBy}}">
        <table>
        <thead><tr><th scope="col">{{groupedBy}}</th>{{#columns}}<th scope="col" class="number">{{name}}<br><span class="quiet">{{from}}</span></th>{{/columns}}</tr></thead>
        <tbody>{{#rows}}<tr><th scope="row"><bdi>{{name}}</bdi></th>{{#counts}}<td class="number">{{.}}</td>{{/counts}}</tr>
        {{/rows}}</tbody>
        </table>
        </div>
        {{>report-ends}}
        <h2>{{t.reports.download}}</h2>
        <ul>
        <li>{{t.reports.download.rows}}: <a href="{{rowsCSV}}">CSV</a> · <a href="{{rowsLines}}">JSON Lines</a></li>
        <li>{{t.reports.download.events}}: <a href="{{eventsCSV}}">CSV</a> · <a href="{{eventsLines}}">JSON Lines</a></li>
        </ul>
        {{/report}}
        {{/main}}{{/layout}}
        """#

    /// The figures, each with its source.
    static let reportFigures = #"""
        <ul class="cards">
        {{#figures}}<li><strong>{{name}}</strong><br><span class="figure">{{count}}</span><br><span class="quiet">{{source}}</span></li>
        {{/figures}}
        </ul>
        """#

    /// How notifications ended.
    static let reportEnds = #"""
        <h2>{{t.reports.ends}}</h2>
        <p class="quiet">{{t.reports.ends.note}}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.reports.ends}}">
        <table>
        <thead><tr><th scope="col">{{t.reports.end}}</th><th scope="col" class="number">{{t.reports.count}}</th></tr></thead>
        <tbody>{{#ends}}<tr><th scope="row">{{name}}</th><td class="number">{{count}}</td></tr>
        {{/ends}}</tbody>
        </table>
        </div>
        """#

    /// The figures of one send.
    static let reportSend = #"""
        {{<layout}}{{$main}}
        <p>{{t.reports.send.intro}} <a href="/console/reports">{{t.reports.title}}</a></p>
        <form class="filters" method="get" action="/console/reports/sends">
        <label>{{t.reports.send.id}} <input name="id" value="{{id}}" required autocomplete="off"></label>
        <div class="buttons"><button>{{t.reports.show}}</button></div>
        </form>
        {{#report}}
        {{>report-figures}}
        {{>report-ends}}
        {{/report}}
        {{/main}}{{/layout}}
        """#
}
