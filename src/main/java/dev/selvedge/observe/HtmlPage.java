package dev.selvedge.observe;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A page with the picture of a run: all in one file, which fetches nothing. */
final class HtmlPage {

    private static final String STYLE = """
            :root{color-scheme:light dark}
            body{margin:0;font:13px system-ui,sans-serif;background:light-dark(#fff,#15181c);color:light-dark(#1f2328,#e6e8eb)}
            form{display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:8px 12px;position:sticky;top:0;left:0;z-index:1;
            background:light-dark(#f4f6f8,#1c2126);border-bottom:1px solid light-dark(#d9dee3,#2c3239)}
            input,button{font:inherit;padding:3px 8px}
            input{flex:1 1 120px;min-width:0;max-width:320px}
            output{color:light-dark(#59636e,#9aa4ae)}
            #view{overflow-x:auto;cursor:grab}
            #view.held{cursor:grabbing;user-select:none}
            #tip{position:fixed;max-width:min(420px,90vw);padding:5px 8px;border-radius:4px;pointer-events:none;overflow-wrap:anywhere;
            background:light-dark(#1f2328,#e6e8eb);color:light-dark(#fff,#15181c)}
            .timeline .faint{opacity:.18}
            noscript{padding:8px 12px;display:block}
            """;

    private HtmlPage() {}

    static String of(Run run) {
        String script = script();
        return """
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width,initial-scale=1">
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
                <title>Timeline</title>
                <style>
                """
                + STYLE
                + """
                </style>
                </head>
                <body>
                <form id="tools">
                <input id="filter" type="search" placeholder="scopes with…" aria-label="Show scopes whose name has this in it" autocomplete="off">
                <button type="button" id="out" aria-label="Zoom out">−</button>
                <button type="button" id="in" aria-label="Zoom in">+</button>
                <button type="button" id="all">All</button>
                <output id="said"></output>
                </form>
                <noscript>Without scripts this page shows the picture as it is.</noscript>
                <div id="view" tabindex="0" aria-label="The picture; plus and minus zoom, arrows move">
                """
                + new SvgPicture(run).document()
                + "</div>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n<script>\n"
                + script
                + "</script>\n</body>\n</html>\n";
    }

    private static String script() {
        try (InputStream in =
                Objects.requireNonNull(HtmlPage.class.getResourceAsStream("timeline.js"), "timeline.js")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the script of the page cannot be read", e);
        }
    }
}
