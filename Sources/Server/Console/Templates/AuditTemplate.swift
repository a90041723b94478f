extension Templates {
    /// The audit log.
    static let audit = #"""
        {{<layout}}{{$main}}
        <p>{{t.audit.intro}}</p>
        <form class="filters" method="get" action="/console/audit">
        <label>{{t.audit.action}} <input name="action" value="{{filter.action}}" autocomplete="off" aria-describedby="audit-action"><span class="hint" id="audit-action">{{t.audit.action.hint}}</span></label>
        <label>{{t.audit.object}} <input name="object" type="search" value="{{filter.object}}"></label>
        <label>{{t.audit.actor}} <input name="actor" value="{{filter.actor}}" autocomplete="off"></label>
        <label>{{t.audit.team}} <input name="team" value="{{filter.team}}" autocomplete="off"></label>
        <label>{{t.audit.origin}} <select name="origin">{{#origins}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>{{/origins}}</select></label>
        <label>{{t.inbox.from}} <input name="from" type="date" value="{{filter.from}}"></label>
        <label>{{t.audit.to}} <input name="to" type="date" value="{{filter.to}}"></label>
        <div class="buttons"><button>{{t.inbox.filter}}</button> <a class="button" href="/console/audit">{{t.inbox.clear}}</a></div>
        </form>
        <p class="buttons"><a class="button" href="{{csv}}" download="audit.csv">{{t.audit.csv}}</a> <a class="button" href="{{jsonl}}" download="audit.jsonl">{{t.audit.jsonl}}</a></p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.inbox.when}}</th><th scope="col">{{t.audit.actor}}</th><th scope="col">{{t.audit.action}}</th><th scope="col">{{t.audit.object}}</th><th scope="col">{{t.audit.outcome}}</th><th scope="col">{{t.audit.change}}</th></tr></thead>
        <tbody>
        {{#rows}}
        <tr class="{{tone}}" id="entry-{{number}}">
        <td>{{#at}}{{>time}}{{/at}}</td>
        <td>{{#actor}}<bdi>{{.}}</bdi>{{/actor}}{{#actorID}} <code>{{.}}</code>{{/actorID}}{{#actor}}<br>{{/actor}}<span class="quiet">{{kind}}, {{origin}}</span></td>
        <td><code>{{action}}</code></td>
        <td><bdi>{{object}}</bdi>{{#team}}<br><span class="quiet">{{.}}</span>{{/team}}</td>
        <td><span class="mark" aria-hidden="true">{{mark}}</span> {{outcome}}</td>
        <td>{{#before}}<details><summary>{{t.audit.before}}</summary><pre tabindex="0"><code>{{.}}</code></pre></details>{{/before}}{{#after}}<details><summary>{{t.audit.after}}</summary><pre tabindex="0"><code>{{.}}</code></pre></details>{{/after}}</td>
        </tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty">{{empty}}</p>{{/rows}}
        {{#more}}<p>{{.}}</p>{{/more}}
        <nav class="pager" aria-label="{{title}}">{{#newest}}<a href="{{.}}">{{t.layout.newer}}</a>{{/newest}} {{#older}}<a href="{{.}}" rel="next">{{t.layout.older}}</a>{{/older}}</nav>
        {{/main}}{{/layout}}
        """#
}
