extension Templates {
    /// The page of one campaign.
    static let campaign = #"""
        {{<layout}}{{$head}}{{#live}}<script type="module" src="/console/fragments.js"></script>{{/live}}{{/head}}{{$main}}
        {{>hub-top}}
        <div role="status" id="state"{{#live}} data-fragments="{{.}}"{{/live}}>{{#state}}{{>campaign-state}}{{/state}}</div>
        {{#facts}}<dl class="facts">
        <dt>{{t.campaign.id}}</dt><dd><code>{{id}}</code></dd>
        <dt>{{t.campaigns.audience}}</dt><dd>{{#audience}}<a href="{{audienceLink}}"><code>{{.}}</code></a>{{/audience}}{{^audience}}{{t.campaigns.everybody}}{{/audience}}</dd>
        {{#enqueuedAt}}<dt>{{t.campaign.enqueued}}</dt><dd>{{>time}}</dd>{{/enqueuedAt}}
        {{#dueAt}}<dt>{{t.campaign.due}}</dt><dd>{{>time}}</dd>{{/dueAt}}
        {{#startedAt}}<dt>{{t.campaign.started}}</dt><dd>{{>time}}</dd>{{/startedAt}}
        {{#endedAt}}<dt>{{t.campaign.ended}}</dt><dd>{{>time}}</dd>{{/endedAt}}
        {{#reason}}<dt>{{t.campaign.reason}}</dt><dd>{{.}}</dd>{{/reason}}
        </dl>
        {{#plan}}<details><summary>{{t.campaign.planned}}</summary><pre tabindex="0"><code>{{.}}</code></pre></details>{{/plan}}{{/facts}}
        <div class="actions">
        {{#actions}}<form method="post" action="{{path}}">{{>token}}<button{{#isDanger}} class="danger"{{/isDanger}}>{{label}}</button></form>
        {{/actions}}
        </div>
        <h2>{{t.campaign.funnel}}</h2>
        <p class="quiet">{{t.campaign.funnel.intro}}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.campaign.funnel}}" id="funnel">{{>campaign-funnel}}</div>
        <h2>{{t.campaign.ends}}</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.campaign.ends}}" id="ends">{{>campaign-ends}}</div>
        <p><a href="{{recipients}}">{{t.campaign.recipients.each}}</a> · <a href="{{csv}}">{{t.campaign.csv}}</a> · <a href="{{lines}}">{{t.campaign.lines}}</a></p>
        {{#leftOut}}<p>{{name}}: {{count}}</p>{{/leftOut}}
        {{#parts}}<details><summary>{{name}}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="{{name}}">
        <table><thead><tr><th scope="col">{{name}}</th>{{#steps}}<th scope="col" class="number">{{.}}</th>{{/steps}}</tr></thead>
        <tbody>{{#rows}}<tr><th scope="row">{{name}}</th>{{#counts}}<td class="number">{{.}}</td>{{/counts}}</tr>
        {{/rows}}</tbody></table></div></details>
        {{/parts}}
        {{#withdraw}}<details><summary>{{t.campaign.withdraw}}</summary>
        <p>{{t.campaign.withdraw.note}}</p>
        <form method="post" action="{{.}}">{{>token}}<button class="danger">{{t.campaign.withdraw.do}}</button></form>
        </details>{{/withdraw}}
        {{/main}}{{/layout}}
        """#

    /// The state of a campaign.
    static let campaignState = #"""
        <p class="verdict {{tone}}"><span class="mark" aria-hidden="true">{{mark}}</span> {{text}}</p>
        """#

    /// The funnel as a table.
    static let campaignFunnel = #"""
        <table>
        <thead><tr><th scope="col">{{t.campaign.step}}</th><th scope="col" class="number">{{t.campaign.count}}</th><th scope="col">{{t.campaign.share}}</th><th scope="col">{{t.campaign.source}}</th></tr></thead>
        <tbody>{{#funnel}}<tr><th scope="row">{{name}}</th><td class="number">{{count}}</td><td><svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" fill="currentColor" aria-hidden="true"><rect width="{{share}}" height="8"/><rect width="100" height="8" fill="none" stroke="currentColor"/></svg> {{percent}}</td><td>{{source}}</td></tr>
        {{/funnel}}</tbody>
        </table>
        """#

    /// The ends of a campaign's recipients as a table.
    static let campaignEnds = #"""
        <table>
        <thead><tr><th scope="col">{{t.campaign.end}}</th><th scope="col" class="number">{{t.campaign.count}}</th><th scope="col">{{t.campaign.meaning}}</th></tr></thead>
        <tbody>{{#ends}}<tr><th scope="row">{{name}}</th><td class="number">{{count}}</td><td>{{why}}</td></tr>
        {{/ends}}</tbody>
        </table>
        """#

    /// The recipients of a campaign.
    static let campaignRecipients = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        <p><a href="{{campaign}}"><bdi>{{name}}</bdi></a> · <a href="{{csv}}">{{t.campaign.csv}}</a> · <a href="{{lines}}">{{t.campaign.lines}}</a></p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.campaign.installation}}</th><th scope="col">{{t.campaign.part.platform}}</th><th scope="col">{{t.campaign.end}}</th><th scope="col">{{t.campaign.reason}}</th><th scope="col" class="number">{{t.campaign.attempts}}</th><th scope="col">{{t.campaign.at}}</th></tr></thead>
        <tbody>
        {{#rows}}<tr class="{{tone}}"><td>{{#id}}<a href="{{link}}">{{.}}</a>{{/id}}{{^id}}<span class="quiet">{{t.campaign.deleted}}</span>{{/id}}{{#part}}<br><span class="quiet">{{.}}</span>{{/part}}{{#variant}}<br><span class="quiet">{{.}}</span>{{/variant}}</td><td>{{platform}}</td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{end}}{{#notification}}<br><a href="/console/notifications/{{.}}">{{t.campaign.timeline}}</a>{{/notification}}</td><td>{{why}}{{#outcome}}<br><code class="quiet">{{.}}</code>{{/outcome}}{{#reason}} <code class="quiet">{{.}}</code>{{/reason}}{{#retryAt}}<br>{{t.campaign.retry}} {{>time}}{{/retryAt}}</td><td class="number">{{attempts}}</td><td>{{#at}}{{>time}}{{/at}}</td></tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty">{{t.campaign.recipients.none}}</p>{{/rows}}
        {{>pager}}
        {{/main}}{{/layout}}
        """#
}
