package dev.selvedge.observe;

/** The look of a picture: few colours, each with a shape of its own beside it, in light and in dark. */
final class SvgStyle {

    private SvgStyle() {}

    static final String CSS = """
            .timeline{--paper:#fff;--ink:#1f2328;--soft:#59636e;--line:#d9dee3;--frame:#f4f6f8;--ok:#2f6f9f;--bad:#b3402a;--cut:#8a6d00;--run:#59636e;
            font:11px ui-sans-serif,system-ui,"Segoe UI","Liberation Sans","DejaVu Sans",sans-serif}
            @media (prefers-color-scheme:dark){.timeline{--paper:#15181c;--ink:#e6e8eb;--soft:#9aa4ae;--line:#2c3239;--frame:#1c2126;--ok:#6db3e3;--bad:#f08a72;--cut:#dcbc55;--run:#9aa4ae}}
            @media (max-width:700px){.timeline .wide{display:none}}
            .timeline .paper{fill:var(--paper)}
            .timeline text{fill:var(--soft);unicode-bidi:isolate;direction:ltr;paint-order:stroke;stroke:var(--paper);stroke-width:2.5px;stroke-linejoin:round}
            .timeline .name{fill:var(--ink);unicode-bidi:isolate}
            .timeline text.scope .name{font-weight:600}
            .timeline .axis line{stroke:var(--line)}
            .timeline .frame{fill:var(--frame);fill-opacity:.6;stroke:var(--line)}
            .timeline .succeeded{fill:var(--ok);stroke:var(--ok)}
            .timeline .failed{fill:url(#cross);stroke:var(--bad)}
            .timeline .cancelled{fill:url(#slant);stroke:var(--cut)}
            .timeline .running{fill:none;stroke:var(--run);stroke-dasharray:4 2}
            .timeline .divided{fill:none}
            .timeline .sign{--c:var(--ink);stroke:var(--c);fill:var(--paper);stroke-width:1.6;stroke-dasharray:none}
            .timeline .succeeded-sign{--c:var(--ok)}
            .timeline .failed-sign{--c:var(--bad)}
            .timeline .cancelled-sign{--c:var(--cut)}
            .timeline .running-sign{--c:var(--run)}
            .timeline .wait{fill:url(#dots);stroke:var(--soft);stroke-width:.8}
            .timeline .back-off{fill:var(--soft);stroke:none}
            .timeline .many{fill:var(--soft);fill-opacity:.55;shape-rendering:crispEdges}
            .timeline .deadline{stroke:var(--ink);stroke-dasharray:2 3}
            .timeline .cancel{stroke:var(--bad);stroke-width:1.2;marker-end:url(#tip)}
            """;

    static final String SHAPES = """
            <defs>
            <pattern id="cross" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="var(--bad)" fill-opacity=".25"/><path d="M0 0L5 5M5 0L0 5" stroke="var(--bad)" fill="none"/></pattern>
            <pattern id="slant" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="var(--cut)" fill-opacity=".12"/><path d="M0 5L5 0" stroke="var(--cut)" fill="none"/></pattern>
            <pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r=".9" fill="var(--soft)"/></pattern>
            <g id="succeeded"><circle r="5" stroke-width="0"/><path d="M-3.2 .2L-.8 2.8L3.4 -2.8" fill="none"/></g>
            <g id="failed"><circle r="5" stroke-width="0"/><path d="M-3 -3L3 3M3 -3L-3 3" fill="none"/></g>
            <g id="cancelled"><circle r="3.6"/><path d="M-2.5 2.5L2.5 -2.5" fill="none"/></g>
            <g id="running"><path d="M-3 -3.5L3.5 0L-3 3.5Z"/></g>
            <g id="mark"><path d="M0 -4L4 0L0 4L-4 0Z" stroke="var(--ink)"/></g>
            <marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6Z" fill="var(--bad)"/></marker>
            </defs>
            """;
}
