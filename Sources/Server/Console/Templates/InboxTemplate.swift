extension Templates {
    /// The list of notifications.
    static let inbox = #"""
        {{<layout}}{{$head}}<script type="module" src="/console/live.js"></script>{{/head}}{{$main}}
        <p>{{t.inbox.intro}}</p>
        <form class="filters" method="get" action="/console/">
        <label>{{t.inbox.app}} <input name="app" value="{{filter.app}}" list="apps" autocomplete="off"></label>
        <datalist id="apps">{{#apps}}<option value="{{topic}}">{{/apps}}</datalist>
        <label>{{t.inbox.device}} <input name="device" value="{{filter.device}}" inputmode="numeric"></label>
        <label>{{t.inbox.state}} <select name="state">{{#states}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>{{/states}}</select></label>
        <label>{{t.inbox.reason}} <input name="reason" value="{{filter.reason}}"></label>
        <label>{{t.inbox.text}} <input name="text" type="search" value="{{filter.text}}"></label>
        <label>{{t.inbox.from}} <input name="from" type="datetime-local" value="{{filter.from}}"></label>
        <label>{{t.inbox.to}} <input name="to" type="datetime-local" value="{{filter.to}}"></label>
        <div class="buttons"><button>{{t.inbox.filter}}</button> <a class="button" href="/console/">{{t.inbox.clear}}</a></div>
        </form>
        <p class="live" role="status" data-live-status></p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table{{#events}} data-live="{{.}}" data-limit="{{limit}}"{{/events}}>
        <thead><tr><th scope="col">{{t.inbox.when}}</th><th scope="col">{{t.inbox.what}}</th><th scope="col">{{t.inbox.app}}</th><th scope="col">{{t.inbox.device}}</th><th scope="col">{{t.inbox.state}}</th></tr></thead>
        <tbody>
        {{#rows}}{{>inbox-row}}{{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty" data-empty>{{empty}}</p>{{/rows}}
        {{#more}}<p>{{.}}</p>{{/more}}
        <nav class="pager" aria-label="{{t.inbox.title}}">{{#newest}}<a href="{{.}}">{{t.layout.newer}}</a>{{/newest}} {{#older}}<a href="{{.}}" rel="next">{{t.layout.older}}</a>{{/older}}</nav>
        {{/main}}{{/layout}}
        """#

    /// A row of the list, also as the live list gets it.
    static let inboxRow = #"""
        <tr data-id="{{id}}" class="{{tone}}">
        <td>{{#at}}{{>time}}{{/at}}</td>
        <td><a href="/console/notifications/{{id}}">{{#name}}<bdi>{{.}}</bdi>{{/name}}{{^name}}{{t.inbox.untitled}}{{/name}}</a>{{#body}}<br><bdi class="quiet">{{.}}</bdi>{{/body}}</td>
        <td>{{topic}}</td>
        <td>{{#device}}<a href="/console/devices/{{.}}">{{.}}</a>{{/device}}</td>
        <td><span class="mark" aria-hidden="true">{{mark}}</span> {{state}}<br><code class="quiet">{{last}}</code></td>
        </tr>

        """#
}
