extension Templates {
    /// The list of campaigns.
    static let campaigns = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        <p>{{t.campaigns.intro}}</p>
        {{#plan}}<p><a class="button" href="{{.}}">{{t.campaigns.plan}}</a></p>{{/plan}}
        <form class="filters" method="get" action="/console/campaigns">
        <input type="hidden" name="hub" value="{{hub}}">
        <label>{{t.campaigns.state}} <select name="state">{{#states}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/states}}</select></label>
        <div class="buttons"><button>{{t.inbox.filter}}</button></div>
        </form>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.campaigns.name}}</th><th scope="col">{{t.campaigns.state}}</th><th scope="col">{{t.campaigns.audience}}</th><th scope="col" class="number">{{t.campaigns.targeted}}</th><th scope="col">{{t.campaigns.when}}</th></tr></thead>
        <tbody>
        {{#rows}}<tr class="{{tone}}"><td><a href="{{link}}"><bdi>{{name}}</bdi></a></td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{state}}</td><td>{{#audience}}<code>{{audience}}</code>{{/audience}}{{^audience}}{{t.campaigns.everybody}}{{/audience}}</td><td class="number">{{targeted}}</td><td>{{#at}}{{>time}}{{/at}}</td></tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty">{{empty}}</p>{{/rows}}
        {{>pager}}
        {{/main}}{{/layout}}
        """#
}
