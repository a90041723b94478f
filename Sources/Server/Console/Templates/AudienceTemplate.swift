extension Templates {
    /// The expression with the fault at its character.
    static let expressionFault = #"""
        {{#wrong}}<div class="fault" role="alert" id="expression-fault"><p>{{message}}</p>
        {{#at}}<p><code>{{before}}<mark>{{at}}</mark>{{after}}</code></p>{{/at}}</div>{{/wrong}}
        """#

    /// The installations that an expression selects.
    static let audiences = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        <p>{{t.audiences.intro}}</p>
        {{>expression-fault}}
        <form method="get" action="/console/audiences">
        <input type="hidden" name="hub" value="{{hub}}">
        <label>{{t.audiences.expression}} <input name="expression" value="{{expression}}" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="expression-hint{{#wrong}} expression-fault{{/wrong}}"{{#wrong}} aria-invalid="true"{{/wrong}}></label>
        <p class="hint" id="expression-hint">{{t.audiences.hint}}</p>
        <p class="buttons"><button>{{t.audiences.estimate}}</button></p>
        </form>
        {{#audience}}
        <p class="notice" role="status">{{count}}</p>
        <dl class="facts">
        <dt>{{t.audiences.contents}}</dt><dd>{{contents}}</dd>
        <dt>{{t.audiences.templates}}</dt><dd>{{templates}}</dd>
        </dl>
        <h2>{{t.audiences.sample}}</h2>
        <ul>{{#sample}}<li><a href="{{link}}">{{id}}</a></li>
        {{/sample}}{{^sample}}<li>{{t.audiences.nobody}}</li>{{/sample}}</ul>
        <p class="actions"><a class="button" href="{{installations}}">{{t.audiences.list}}</a> {{#plan}}<a class="button" href="{{.}}">{{t.campaigns.plan}}</a>{{/plan}}</p>
        {{/audience}}
        {{/main}}{{/layout}}
        """#

    /// The rows of installations.
    static let installationTable = #"""
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.installations.title}}">
        <table>
        <thead><tr><th scope="col">{{t.installations.id}}</th><th scope="col">{{t.installations.user}}</th><th scope="col">{{t.installations.platform}}</th><th scope="col">{{t.installations.tags}}</th><th scope="col">{{t.installations.seen}}</th><th scope="col">{{t.installations.state}}</th></tr></thead>
        <tbody>
        {{#rows}}<tr class="{{tone}}"><td><a href="{{link}}"><bdi>{{id}}</bdi></a></td><td>{{#user}}<a href="{{userLink}}"><bdi>{{.}}</bdi></a>{{/user}}</td><td>{{platform}}</td><td>{{tags}}</td><td>{{#seen}}{{>time}}{{/seen}}</td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{state}}</td></tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty">{{t.installations.empty}}</p>{{/rows}}
        """#

    /// The list of installations.
    static let installations = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        {{>expression-fault}}
        <form class="filters" method="get" action="/console/installations">
        <input type="hidden" name="hub" value="{{hub}}">
        <label>{{t.installations.id}} <input name="id" type="search" value="{{filter.id}}" autocomplete="off"></label>
        <label>{{t.installations.user}} <input name="user" type="search" value="{{filter.user}}" autocomplete="off"></label>
        <label>{{t.audiences.expression}} <input name="expression" type="search" value="{{filter.expression}}" autocomplete="off" spellcheck="false"{{#wrong}} aria-invalid="true" aria-describedby="expression-fault"{{/wrong}}></label>
        <label>{{t.installations.state}} <select name="state">{{#states}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/states}}</select></label>
        <div class="buttons"><button>{{t.inbox.filter}}</button></div>
        </form>
        {{#everything}}<p><a href="{{.}}">{{t.installations.person}}</a></p>{{/everything}}
        {{>installation-table}}
        {{>pager}}
        {{/main}}{{/layout}}
        """#
}
