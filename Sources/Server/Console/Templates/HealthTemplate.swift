extension Templates {
    /// The page of the server's condition.
    static let health = #"""
        {{<layout}}{{$main}}
        <div class="verdict {{tone}}"><p><strong><span aria-hidden="true">{{mark}}</span> {{verdict}}</strong></p>{{#failure}}<p>{{reason}} {{#since}}{{>time}}{{/since}}</p>{{#remedy}}<p>{{.}}</p>{{/remedy}}{{/failure}}</div>
        {{#systems}}<div class="verdict bad"><p><strong><span aria-hidden="true">✗</span> {{system}}: {{reason}}</strong></p><p>{{remedy}}</p></div>
        {{/systems}}
        <ul class="cards">
        {{#cards}}<li><div class="figure">{{figure}}</div><div>{{label}}</div>{{#hint}}<div class="quiet">{{.}}</div>{{/hint}}</li>
        {{/cards}}
        </ul>
        {{#disk}}<h2>{{t.health.disk}}</h2>
        <p class="{{tone}}-text"><span aria-hidden="true">{{mark}}</span> {{text}}</p>{{#advice}}<p>{{.}}</p>{{/advice}}{{/disk}}
        <h2>{{t.health.certificates}}</h2>
        {{#certificates.isKnown}}
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.health.certificates}}">
        <table>
        <thead><tr><th scope="col">{{t.health.certificate.kind}}</th><th scope="col">{{t.health.certificate.name}}</th><th scope="col">{{t.health.certificate.ends}}</th><th scope="col">{{t.health.certificate.left}}</th></tr></thead>
        <tbody>
        {{#certificates.rows}}<tr class="{{tone}}"><td>{{kind}}</td><td>{{name}}</td><td>{{#ends}}{{>time}}{{/ends}}</td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{left}}</td></tr>
        {{/certificates.rows}}
        </tbody>
        </table>
        </div>
        {{/certificates.isKnown}}
        {{^certificates.isKnown}}<p class="empty">{{t.health.certificates.unknown}}</p>{{/certificates.isKnown}}
        <h2>{{t.health.refusals}}</h2>
        {{#refusals.isAny}}
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.health.refusals}}">
        <table>
        <thead><tr><th scope="col">{{t.health.refusal.reason}}</th><th scope="col" class="number">{{t.health.hour}}</th><th scope="col" class="number">{{t.health.day}}</th></tr></thead>
        <tbody>
        {{#refusals.rows}}<tr><td><a href="{{path}}"><code>{{reason}}</code></a></td><td class="number">{{hour}}</td><td class="number">{{day}}</td></tr>
        {{/refusals.rows}}
        </tbody>
        </table>
        </div>
        {{/refusals.isAny}}
        {{^refusals.isAny}}<p class="empty">{{t.health.refusals.none}}</p>{{/refusals.isAny}}
        {{#histories}}
        <h2>{{title}}</h2>
        {{#chart}}{{>chart}}{{/chart}}
        <details><summary>{{t.health.table}}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.health.from}}</th><th scope="col" class="number">{{t.health.accepted}}</th><th scope="col" class="number">{{t.health.delivered}}</th><th scope="col" class="number">{{t.health.shown}}</th><th scope="col" class="number">{{t.health.refused}}</th><th scope="col" class="number">{{t.health.waiting}}</th><th scope="col" class="number">{{t.health.connected}}</th><th scope="col" class="number">{{t.health.failures}}</th></tr></thead>
        <tbody>
        {{#rows}}<tr><td>{{#at}}{{>time}}{{/at}}</td><td class="number">{{accepted}}</td><td class="number">{{delivered}}</td><td class="number">{{shown}}</td><td class="number">{{refused}}</td><td class="number">{{waiting}}</td><td class="number">{{connected}}</td><td class="number">{{failures}}</td></tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        </details>
        {{/histories}}
        <p class="quiet">{{t.health.since}}</p>
        {{/main}}{{/layout}}
        """#
}
