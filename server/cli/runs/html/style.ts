/** The page's style, for light and dark. Red is for what is wrong and nothing else. */
export const style = `
:root { color-scheme: light dark; --fg: #1f2328; --dim: #656d76; --bg: #fff; --rule: #d0d7de; --good: #1a7f37; --bad: #cf222e;
  --s0: #0969da; --s1: #bf6a00; --s2: #8250df; --s3: #1b7c83; --s4: #9a6700; --s5: #57606a; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --dim: #8d96a0; --bg: #0d1117; --rule: #30363d; --good: #3fb950; --bad: #f85149;
  --s0: #58a6ff; --s1: #e3964a; --s2: #bc8cff; --s3: #56d4dd; --s4: #d4a72c; --s5: #a8b1bb; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); max-width: 1040px; margin: 2rem auto; padding: 0 1rem; }
h1 { margin: 0; } h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
.facts, small, figcaption { color: var(--dim); }
.verdict { border-left: 4px solid var(--dim); padding: .25rem 1rem; margin: 1rem 0; } .verdict h2 { margin: .25rem 0; } .verdict p { margin: .25rem 0; }
.verdict.good { border-color: var(--good); } .verdict.alarm { border-color: var(--bad); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; font-size: 11px; } svg text { fill: var(--dim); }
.rule { stroke: var(--rule); } path { fill: none; stroke-width: 1.8; }
path.s0, path.s1, path.s2, path.s3, path.s4, path.s5 { stroke: currentColor; } circle { fill: currentColor; }
path.band { fill: currentColor; fill-opacity: .16; stroke: none; } .mark { stroke: var(--dim); stroke-dasharray: 2 3; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); } .s4 { color: var(--s4); } .s5 { color: var(--s5); }
path.s1 { stroke-dasharray: 7 3; } path.s2 { stroke-dasharray: 2 3; } path.s3 { stroke-dasharray: 9 3 2 3; } path.s4 { stroke-dasharray: 12 4; } path.s5 { stroke-dasharray: 4 4; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; list-style: none; padding: 0; margin: 0; font-size: .85rem; } .legend li::before { content: "— "; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); padding: .35rem .5rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; } code { font-size: .9em; }
`;
