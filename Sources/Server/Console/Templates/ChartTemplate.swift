extension Templates {
    /// A chart: `{{#chart}}{{>chart}}{{/chart}}`, with the view of `Chart`.
    static let chart = #"""
        <figure class="chart">
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <svg role="img" aria-labelledby="{{id}}-title {{id}}-description" viewBox="0 0 {{width}} {{height}}" width="{{width}}" height="{{height}}" fill="currentColor" font-size="12">
        <title id="{{id}}-title">{{title}}</title>
        <desc id="{{id}}-description">{{description}}</desc>
        {{#ticks}}<path d="M{{left}} {{y}}H{{right}}" stroke="currentColor" stroke-opacity="0.2"/><text x="{{left}}" y="{{y}}" dx="-6" dy="4" text-anchor="end">{{text}}</text>
        {{/ticks}}
        <path d="M{{left}} {{bottom}}H{{right}}" stroke="currentColor"/>
        {{#labels}}<text x="{{x}}" y="{{y}}" text-anchor="middle">{{text}}</text>
        {{/labels}}
        {{#bars}}<rect x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}" fill-opacity="{{opacity}}" stroke="currentColor" stroke-width="0.5"><title>{{hint}}</title></rect>
        {{/bars}}
        {{#lines}}<polyline points="{{points}}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{{dashes}}"/>
        {{#marks}}<path d="{{path}}"><title>{{hint}}</title></path>
        {{/marks}}{{/lines}}
        </svg>
        </div>
        <figcaption><ul class="legend">
        {{#legend}}<li><svg width="32" height="16" viewBox="0 0 32 16" fill="currentColor" aria-hidden="true">{{#opacity}}<rect x="8.5" y="1.5" width="15" height="13" fill-opacity="{{.}}" stroke="currentColor"/>{{/opacity}}{{#mark}}<path d="M0 8H32" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{{dashes}}"/><path d="{{.}}"/>{{/mark}}</svg> {{name}}</li>
        {{/legend}}
        </ul></figcaption>
        </figure>
        """#
}
