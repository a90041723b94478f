extension Templates {
    /// The plan of a campaign.
    static let campaignPlan = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        {{#preview}}<section aria-label="{{t.campaign.preview}}">
        <h2>{{t.campaign.preview}}</h2>
        <p class="notice" role="status">{{estimate}}</p>
        {{#of}}<p>{{.}}</p>{{/of}}
        {{#leftOut}}<p class="verdict warn">{{.}}</p>{{/leftOut}}
        {{#comesAt}}<p>{{t.campaign.comes}} {{>time}}</p>{{/comesAt}}
        {{#quietUntil}}<p>{{t.campaign.quiet}} {{>time}}</p>{{/quietUntil}}
        {{#renderings}}<h3>{{#name}}{{.}} · {{/name}}{{size}}</h3>
        {{#fault}}<p class="fault">{{.}}</p>{{/fault}}
        {{#payload}}<pre tabindex="0"><code>{{.}}</code></pre>{{/payload}}
        {{/renderings}}
        </section>{{/preview}}
        {{#trials}}<section aria-label="{{t.campaign.test}}">
        <h2>{{t.campaign.test}}</h2>
        <ul role="status">{{#results}}<li><a href="{{link}}">{{id}}</a>{{#variant}} ({{.}}){{/variant}}: <code>{{outcome}}</code></li>{{/results}}{{^results}}<li>{{t.campaign.test.none}}</li>{{/results}}</ul>
        </section>{{/trials}}
        {{#document}}<details><summary>{{t.campaign.document}}</summary><pre tabindex="0"><code>{{.}}</code></pre></details>{{/document}}
        <form method="post" action="{{action}}">{{>token}}
        <input type="hidden" name="key" value="{{key}}">
        {{#groups}}<fieldset><legend>{{name}}</legend><div class="fields">
        {{#fields}}{{>form-field}}{{/fields}}
        </div></fieldset>
        {{/groups}}
        <p class="buttons"><button name="do" value="preview">{{t.campaign.do.preview}}</button> <button name="do" value="test">{{t.campaign.do.test}}</button> <button class="main" name="do" value="begin">{{t.campaign.do.begin}}</button></p>
        <p class="quiet">{{t.campaign.do.note}}</p>
        </form>
        {{/main}}{{/layout}}
        """#
}
