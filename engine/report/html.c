#include "engine/report/html.h"

#include "engine/report/quote.h"

/*
 * Colours of lines are far apart for the colour-blind (blue, orange, green, purple,
 * red, grey), and lines differ in their dashes as well.
 */
static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b2330;--dim:#5b6675;--rule:#d8dde4;"
    "--card:#f5f7f9;--good:#1f7a3f;--bad:#b3261e;--warn:#8a5a00;"
    "--c0:#1f66c1;--c1:#c2570c;--c2:#1d7f5f;--c3:#7a4bc4;--c4:#b3261e;--c5:#6b7684}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e4e8ee;--dim:#98a3b2;"
    "--rule:#2d3642;--card:#1a2029;--good:#5fc98a;--bad:#f2867e;--warn:#e3b35a;"
    "--c0:#6aaef5;--c1:#f0975a;--c2:#56c7a1;--c3:#b595f0;--c4:#f2867e;--c5:#98a3b2}}\n"
    "@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--dim:#444;--rule:#bbb;"
    "--card:#fff;--good:#1f7a3f;--bad:#b3261e;--warn:#8a5a00;--c0:#1f66c1;--c1:#c2570c;"
    "--c2:#1d7f5f;--c3:#7a4bc4;--c4:#b3261e;--c5:#6b7684}"
    "body{font-size:10.5px!important}.wide{overflow:visible!important}"
    "main{max-width:none!important;padding:0!important}"
    "figure,tr,.card,h2{break-inside:avoid}h2,thead{break-after:avoid}"
    ".plots{grid-template-columns:1fr 1fr!important}details>summary{display:none}}\n"
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--bg);color:var(--fg);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    "main{max-width:72rem;margin:0 auto;padding:2rem 1.25rem 4rem}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem}"
    "h2{font-size:1.1rem;margin:2.25rem 0 .75rem;padding-bottom:.3rem;"
    "border-bottom:1px solid var(--rule)}"
    "p{margin:.35rem 0;max-width:60rem}.dim,figcaption small{color:var(--dim)}"
    ".badge{display:inline-block;font-size:.8rem;font-weight:600;padding:.1rem .6rem;"
    "border:1px solid currentColor;border-radius:1rem;vertical-align:.35rem;"
    "margin-left:.5rem}.good{color:var(--good)}.bad{color:var(--bad)}"
    ".warn{color:var(--warn)}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));"
    "gap:.75rem;margin:1.25rem 0 0}"
    ".card{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;"
    "padding:.7rem .9rem}.card b{display:block;font-size:1.45rem;line-height:1.25;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}.card span{color:var(--dim);"
    "font-size:.82rem}.card i u{text-decoration:none;white-space:nowrap}.card "
    "i{display:block;font-style:normal;color:var(--dim);"
    "font-size:.78rem}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),"
    "1fr));"
    "gap:1.25rem 1.5rem}figure{margin:0;min-width:0}"
    "figcaption{display:flex;flex-wrap:wrap;gap:0 .9rem;font-size:.85rem;"
    "align-items:baseline}figcaption b{font-size:.95rem;margin-right:auto}"
    "figcaption span{white-space:nowrap}"
    "svg{display:block;width:100%;height:auto;overflow:visible}"
    "svg text{fill:var(--dim);font-size:11px;font-family:inherit}"
    "svg .grid{stroke:var(--rule);stroke-width:1;fill:none;shape-rendering:crispEdges}"
    "svg .mark{stroke:var(--dim);stroke-width:1;stroke-dasharray:2 3;fill:none}"
    "svg .line{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}"
    "svg .area{opacity:.14;stroke:none}svg .dot{stroke:none}\n"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1);stroke-dasharray:6 2}"
    ".s2{stroke:var(--c2);stroke-dasharray:2 2.5}"
    ".s3{stroke:var(--c3);stroke-dasharray:8 2 2 2}"
    ".s4{stroke:var(--c4);stroke-dasharray:1 3}.s5{stroke:var(--c5)}"
    ".f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}"
    ".f4{fill:var(--c4)}.f5{fill:var(--c5)}\n"
    ".t0{color:var(--c0)}.t1{color:var(--c1)}svg .solid{stroke-dasharray:none;"
    "stroke-width:3}svg.bar{width:9.5rem}.word{white-space:nowrap}ul{padding-left:1.2rem;"
    "margin:.5rem 0}"
    "figcaption svg{display:inline-block;width:1.6em;height:.6em;margin-right:.35em}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.88rem;width:100%}"
    "th,td{text-align:left;padding:.28rem .8rem .28rem 0;"
    "border-bottom:1px solid var(--rule);vertical-align:top}"
    "th{font-weight:600;color:var(--dim);font-size:.8rem}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "td:last-child,th:last-child{padding-right:0}"
    "td code,p code{font-size:.95em}details{margin:.5rem 0}"
    "summary{cursor:pointer;color:var(--dim)}"
    "footer{margin-top:3rem;color:var(--dim);font-size:.8rem}\n";

void html_begin(FILE *f, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
          "<title>",
          f);
    quote_xml(f, title);
    fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
}

void html_end(FILE *f)
{
    fputs("</main>\n</body>\n</html>\n", f);
}

void html_element(FILE *f, const char *tag, const char *class, const char *text)
{
    if (*class)
        fprintf(f, "<%s class=\"%s\">", tag, class);
    else
        fprintf(f, "<%s>", tag);
    quote_xml(f, text);
    fprintf(f, "</%s>", tag);
}

void html_number(FILE *f, const char *text)
{
    html_element(f, "td", "n", text);
}
