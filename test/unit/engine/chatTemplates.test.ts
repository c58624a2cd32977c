/** Chat templates where the library and Python's Jinja differ; the expected texts are Jinja 3.1's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatTemplate } from "../../../server/engine/tokenizers/chatTemplate.ts";

const messages = ["a", "b", "c"].map((content) => ({ role: "user", content }));
const rendered = (source: string): string =>
  new ChatTemplate(source, { eos_token: "</s>" }, "tokenizer_config.json").render(messages);

const cases: readonly (readonly [string, string])[] = [
  ["{{ 'x' ~ none }}", "xNone"],
  ["{{ none ~ 'x' ~ 1 ~ 1.0 ~ true ~ nowhere }}", "Nonex11.0True"],
  ["{{ 'x' ~ (messages[0].content if false else none) ~ eos_token }}", "xNone</s>"],
  [
    "{% for m in messages %}{{ m.content }}{% if m.content == 'b' %}!{% break %}?{% endif %};{% endfor %}.",
    "a;b!.",
  ],
  [
    "{% for m in messages %}{{ m.content }}{% if loop.first %}-{% continue %}{% endif %};{% endfor %}",
    "a-b;c;",
  ],
  ["{% for m in messages %}{% break %}{% else %}none{% endfor %}.", "none."],
  ["{% for m in messages %}{{ m.content }}{% continue %}{% else %}none{% endfor %}.", "abcnone."],
  [
    "{% for m in messages %}{{ m.content }}{% if m.content == 'b' %}{% break %}{% endif %}{% else %}none{% endfor %}.",
    "ab.",
  ],
  ["{% for m in [] %}{% break %}{% else %}none{% endfor %}.", "none."],
  [
    "{% for m in messages %}[{% for n in messages %}{{ m.content ~ n.content }}{% if loop.index == 2 %}{% break %}{% endif %},{% endfor %}]{% endfor %}",
    "[aa,ab][ba,bb][ca,cb]",
  ],
  [
    "{% set ns = namespace(seen=0) %}{% for m in messages %}{% set ns.seen = ns.seen + 1 %}{{ ns.seen }}{% if ns.seen == 2 %}{% break %}{% endif %}{% endfor %}={{ ns.seen }}",
    "12=2",
  ],
  [
    "{% macro f(x) %}{% for m in messages %}{{ m.content }}{% if m.content == x %}{% break %}{% endif %}{% endfor %}{% endmacro %}{{ f('a') }}{{ f('b') }}",
    "aab",
  ],
];
for (const [source, expected] of cases) test(source, () => assert.equal(rendered(source), expected));
