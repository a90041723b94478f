extension Templates {
    /// The page of one installation.
    static let installation = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        {{#isStale}}<p><a class="button" href="{{reload}}">{{t.installation.reload}}</a></p>{{/isStale}}
        <dl class="facts">
        {{#facts}}<dt>{{name}}</dt><dd>{{#at}}{{>time}}{{/at}}{{^at}}<bdi>{{text}}</bdi>{{/at}}</dd>
        {{/facts}}
        </dl>
        <p class="actions">{{#everything}}<a class="button" href="{{.}}">{{t.installation.person}}</a> {{/everything}}<a class="button" href="{{preview}}">{{t.installation.preview}}</a></p>
        <h2>{{t.installations.tags}}</h2>
        {{#saveTags}}<form method="post" action="{{.}}">{{>token}}
        <input type="hidden" name="version" value="{{version}}">
        <label>{{t.installation.tags}} <textarea name="tags" rows="3" spellcheck="false" aria-describedby="tags-hint{{#tagFault}} tags-fault{{/tagFault}}"{{#tagFault}} aria-invalid="true"{{/tagFault}}>
        {{tags}}</textarea></label>
        <p class="hint" id="tags-hint">{{t.installation.tags.hint}}</p>
        {{#tagFault}}<p class="invalid" id="tags-fault">{{.}}</p>{{/tagFault}}
        <p><button>{{t.installation.save.tags}}</button></p>
        </form>{{/saveTags}}
        {{^saveTags}}<p>{{tags}}</p>{{/saveTags}}
        {{#saveDocument}}<h2>{{t.installation.document}}</h2>
        <form method="post" action="{{.}}">{{>token}}
        <input type="hidden" name="version" value="{{version}}">
        <label>JSON <textarea name="document" rows="16" spellcheck="false"{{#documentFault}} aria-invalid="true" aria-describedby="document-fault"{{/documentFault}}>
        {{document}}</textarea></label>
        {{#documentFault}}<p class="invalid" id="document-fault">{{.}}</p>{{/documentFault}}
        <p><button>{{t.installation.save}}</button></p>
        </form>{{/saveDocument}}
        {{#delete}}<details><summary>{{t.installation.delete}}</summary>
        <p>{{t.installation.delete.note}}</p>
        <form method="post" action="{{.}}">{{>token}}<button class="danger">{{t.installation.delete.do}}</button></form>
        </details>{{/delete}}
        {{/main}}{{/layout}}
        """#

    /// The page of a person.
    static let person = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        {{#receipt}}<pre tabindex="0"><code>{{.}}</code></pre>{{/receipt}}
        <p>{{t.person.intro}}</p>
        {{>installation-table}}
        {{#export}}<h2>{{t.person.export}}</h2>
        <p>{{t.person.export.note}}</p>
        <p><a class="button" href="{{.}}">{{t.person.export.do}}</a></p>{{/export}}
        {{#erase}}<h2>{{t.person.erase}}</h2>
        <p>{{t.person.erase.note}}</p>
        <form method="post" action="{{.}}">{{>token}}
        <label>{{t.person.erase.type}} <input name="user" required autocomplete="off" spellcheck="false" aria-describedby="user-id{{#wrong}} user-fault{{/wrong}}"{{#wrong}} aria-invalid="true"{{/wrong}}></label>
        <p class="hint" id="user-id"><bdi><code>{{user}}</code></bdi></p>
        {{#wrong}}<p class="invalid" id="user-fault" role="alert">{{.}}</p>{{/wrong}}
        <p><button class="danger">{{t.person.erase.do}}</button></p>
        </form>{{/erase}}
        {{/main}}{{/layout}}
        """#

    /// The preview of templates.
    static let hubTemplates = #"""
        {{<layout}}{{$main}}
        {{>hub-top}}
        <p>{{t.templates.intro}}</p>
        <form method="get" action="/console/templates">
        <input type="hidden" name="hub" value="{{hub}}">
        <label>{{t.templates.installation}} <input name="installation" value="{{installation}}" list="installations" required autocomplete="off"></label>
        <datalist id="installations">{{#installations}}<option value="{{.}}">{{/installations}}</datalist>
        <label>{{t.templates.properties}} <textarea name="properties" rows="6" spellcheck="false" aria-describedby="properties-hint{{#wrong}} properties-fault{{/wrong}}"{{#wrong}} aria-invalid="true"{{/wrong}}>
        {{properties}}</textarea></label>
        <p class="hint" id="properties-hint">{{t.templates.hint}}</p>
        {{#wrong}}<p class="invalid" id="properties-fault" role="alert">{{.}}</p>{{/wrong}}
        <p><button>{{t.campaign.preview}}</button></p>
        </form>
        {{#renderings}}<h2>{{t.templates.renderings}}</h2>
        {{#items}}<section aria-label="{{name}}">
        <h3>{{name}} · {{size}}</h3>
        {{#fault}}<p class="fault">{{.}}</p>{{/fault}}
        {{#payload}}<pre tabindex="0"><code>{{.}}</code></pre>{{/payload}}
        {{#headers}}<p><code>{{name}}: {{value}}</code></p>{{/headers}}
        </section>{{/items}}
        {{^items}}<p class="empty">{{t.templates.none}}</p>{{/items}}{{/renderings}}
        {{#templates}}<details><summary>{{t.templates.template}} {{name}}</summary><pre tabindex="0"><code>{{body}}</code></pre></details>
        {{/templates}}
        {{/main}}{{/layout}}
        """#
}
