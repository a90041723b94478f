extension Templates {
    /// The description of the API.
    static let api = #"""
        {{<layout}}{{$main}}
        <p>{{t.api.intro}} <a href="/v1/openapi.json">/v1/openapi.json</a></p>
        {{#groups}}
        <h2>{{name}}</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="{{name}}">
        <table>
        <thead><tr><th scope="col">{{t.api.request}}</th><th scope="col">{{t.api.summary}}</th><th scope="col">{{t.api.query}}</th></tr></thead>
        <tbody>
        {{#operations}}<tr><td><code>{{method}} {{path}}</code></td><td lang="en">{{summary}}{{#description}}<br><span class="quiet">{{.}}</span>{{/description}}</td><td><code>{{query}}</code></td></tr>
        {{/operations}}
        </tbody>
        </table>
        </div>
        {{/groups}}
        {{/main}}{{/layout}}
        """#
}
